// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Files, memory, time, local sockets, ending. There are three more with conditions: mmap and
 * mprotect without PROT_EXEC, socket for AF_UNIX.
 */
static const char common_calls[] =
	"access brk chmod clock_gettime clock_nanosleep close connect exit exit_group faccessat "
	"faccessat2 fchdir fchmod fcntl flock fstat fstatfs fsync futex getdents64 getegid "
	"geteuid getpid getrandom gettimeofday getuid lseek lstat madvise mkdir mremap munmap "
	"nanosleep newfstatat open openat pread64 read readlink readlinkat renameat "
	"restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn sched_getaffinity "
	"sched_setaffinity stat statfs statx sysinfo unlink unlinkat utimensat write writev";

/* The functions below return 0 or a negative error number. */

static int allow(scmp_filter_ctx filter, const char *names)
{
	char *copy = strdup(names), *rest = copy, *name;
	int error = copy ? 0 : -ENOMEM;

	while (!error && (name = strsep(&rest, " ")))
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(name),
					 0);
	free(copy);
	return error;
}

static int allow_with_conditions(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);

	if (!error)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	if (!error)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					 SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	return error;
}

static int filter_calls(const char *calls)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int error = filter ? allow(filter, common_calls) : -ENOMEM;

	if (!error)
		error = allow(filter, calls);
	if (!error)
		error = allow_with_conditions(filter);
	if (!error)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

static int drop_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	/* A capability that is not in the bounding set cannot come back. */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!(keep & CAPABILITY(cap)) && prctl(PR_CAPBSET_DROP, cap) < 0)
			return -errno;
	}
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i].effective = data[i].permitted = keep >> (32 * i);
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int confine(uint64_t capabilities, const char *calls, struct ms_error *err)
{
	int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;

	if (!error)
		error = drop_capabilities(capabilities);
	if (!error)
		error = filter_calls(calls);
	if (!error)
		return 0;
	return ms_fail(
		err,
		"expected a kernel that confines this process, found none: %s; boot one with "
		"CONFIG_SECCOMP_FILTER",
		strerror(-error));
}
