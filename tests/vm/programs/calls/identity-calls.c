/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks on Linux and on an LWK what Linux promises of calls on what a process is and may do: its
 * IDs, keys, personality, capabilities, scheduling class, command line and the node's clock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "check.h"

extern char **environ;

/* A user may set the IDs to what they are. GNU make's posix_spawn(3) does so for each program. */
static int identity(void)
{
	char *const arguments[] = { "true", NULL };
	uid_t user = getuid(), other = user + 1, ids[3];
	gid_t group = getgid(), groups[64], group_ids[3];
	posix_spawnattr_t attributes;
	pid_t child;
	int status;

	CHECK(setuid(user) == 0 && seteuid(user) == 0 && setreuid(user, -1) == 0);
	CHECK(setresuid(user, user, user) == 0 && setresuid(-1, -1, -1) == 0);
	CHECK(setgid(group) == 0 && setegid(group) == 0 && setregid(-1, group) == 0);
	CHECK(setresgid(group, group, group) == 0 && setresgid(-1, -1, -1) == 0);
	CHECK(setuid(other) < 0 && errno == EPERM && setgid(group + 1) < 0 && errno == EPERM);
	CHECK(setreuid(other, -1) < 0 && errno == EPERM && setregid(-1, 0) < 0 && errno == EPERM);
	CHECK(setresuid(-1, -1, 0) < 0 && errno == EPERM);
	CHECK(setresgid(-1, 0, -1) < 0 && errno == EPERM);
	CHECK(setuid(-1) < 0 && errno == EINVAL && setgid(-1) < 0 && errno == EINVAL);
	CHECK(setfsuid(other) == (int)user && setfsuid(-1) == (int)user);
	CHECK(setfsgid(0) == (int)group && setfsgid(-1) == (int)group);
	CHECK(setgroups(getgroups(64, groups), groups) < 0 && errno == EPERM);
	CHECK(getresuid(&ids[0], &ids[1], &ids[2]) == 0);
	CHECK(ids[0] == user && ids[1] == user && ids[2] == user);
	CHECK(getresgid(&group_ids[0], &group_ids[1], &group_ids[2]) == 0);
	CHECK(group_ids[0] == group && group_ids[1] == group && group_ids[2] == group);

	CHECK(posix_spawnattr_init(&attributes) == 0);
	CHECK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_RESETIDS) == 0);
	CHECK(posix_spawnp(&child, "true", NULL, &attributes, arguments, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	return 0;
}

/* A key is the thread's, as long as the same thread of the proxy makes its calls. */
static int keys(void)
{
	char data[8] = "";
	long key =
		syscall(SYS_add_key, "user", "identity-calls", "data", 4, KEY_SPEC_THREAD_KEYRING);

	CHECK(key > 0 && syscall(SYS_keyctl, KEYCTL_READ, key, data, sizeof(data)) == 4);
	CHECK(memcmp(data, "data", 4) == 0);
	CHECK(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_THREAD_KEYRING, "user", "identity-calls",
		      0) == key);
	return 0;
}

static int personalities(void)
{
	int old = personality(UINT32_MAX), status;
	struct utsname names;
	char release[256] = "";
	int fd = open("/proc/sys/kernel/osrelease", O_RDONLY);
	pid_t child;

	CHECK(old >= 0 && personality(old | ADDR_NO_RANDOMIZE | UNAME26) == old);
	CHECK(uname(&names) == 0 && strncmp(names.release, "2.6.", 4) == 0);
	child = fork();
	if (child == 0)
		_exit(!(personality(UINT32_MAX) & ADDR_NO_RANDOMIZE));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(personality(old) == (old | ADDR_NO_RANDOMIZE | UNAME26));
	CHECK(uname(&names) == 0 && read(fd, release, sizeof(release) - 1) > 0 && close(fd) == 0);
	CHECK(strlen(release) == strlen(names.release) + 1 &&
	      strncmp(release, names.release, strlen(names.release)) == 0);
	return 0;
}

static int capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];

	CHECK(syscall(SYS_capget, &header, has) == 0 && syscall(SYS_capset, &header, has) == 0);
	has[0].permitted = has[0].effective = 1U << CAP_SYS_ADMIN;
	CHECK(geteuid() == 0 || (syscall(SYS_capset, &header, has) < 0 && errno == EPERM));
	return 0;
}

static int clock_of_the_node(void)
{
	struct timeval sane = { 1700000000, 0 }, bad = { 0, 1000001 };
	struct timex facts = { 0 };

	CHECK(adjtimex(&facts) >= 0 && facts.tick > 0);
	CHECK(settimeofday(&bad, NULL) < 0 && errno == EINVAL);
	CHECK(geteuid() == 0 || (settimeofday(&sane, NULL) < 0 && errno == EPERM));
	return 0;
}

static int command_line(int argc, char **argv)
{
	int fd = open("/proc/self/cmdline", O_RDONLY);
	char text[1024], *at = text;
	ssize_t n = read(fd, text, sizeof(text));

	CHECK(fd >= 0 && n > 0 && close(fd) == 0);
	for (int i = 0; i < argc; i++) {
		CHECK(strcmp(at, argv[i]) == 0);
		at += strlen(at) + 1;
	}
	CHECK(at == text + n);
	return 0;
}

static int scheduling(void)
{
	/* struct sched_attr of <linux/sched/types.h>, which old headers do not have. */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = { 0 };
	struct sched_param none = { 0 }, first = { 1 };
	int status;
	pid_t child;

	CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0 &&
	      sched_getscheduler(0) == SCHED_BATCH);
	CHECK(syscall(__NR_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0);
	CHECK(attributes.policy == SCHED_BATCH && !attributes.priority);
	child = fork();
	if (child == 0)
		_exit(sched_getscheduler(0) != SCHED_BATCH);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	attributes.policy = SCHED_OTHER;
	CHECK(syscall(__NR_sched_setattr, 0, &attributes, 0) == 0 &&
	      sched_getscheduler(getpid()) == SCHED_OTHER);
	CHECK(sched_setparam(0, &first) == -1 && errno == EINVAL);
	CHECK(geteuid() == 0 ||
	      (sched_setscheduler(0, SCHED_FIFO, &first) == -1 && errno == EPERM));
	return 0;
}

int main(int argc, char **argv)
{
	if (identity() || keys() || personalities() || capabilities() || clock_of_the_node() ||
	    command_line(argc, argv) || scheduling())
		return 1;
	puts("all of it is right");
	return 0;
}
