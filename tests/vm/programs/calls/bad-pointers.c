/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes every call that the LWK delegates with bad pointers in all of its arguments at once, and
 * prints the errors. The text must be the same on Linux, and whether the module or the proxy
 * carries the calls out. The calls may open, close and change anything, so the program uses nothing
 * afterwards but a copy of its standard output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define CALL(name) { __NR_##name, #name, false }
/* Null pointers mean: wait for ever. */
#define WAITS(name) { __NR_##name, #name, true }

static const struct {
	long nr;
	const char *name;
	bool waits;
} calls[] = {
	CALL(read),
	CALL(write),
	CALL(open),
	CALL(close),
	CALL(stat),
	CALL(fstat),
	CALL(lstat),
	CALL(lseek),
	CALL(ioctl),
	CALL(pread64),
	CALL(pwrite64),
	CALL(readv),
	CALL(writev),
	CALL(preadv),
	CALL(pwritev),
	CALL(preadv2),
	CALL(pwritev2),
	CALL(access),
	CALL(pipe),
	CALL(pipe2),
	CALL(dup),
	CALL(dup2),
	CALL(dup3),
	CALL(fcntl),
	CALL(flock),
	CALL(fsync),
	CALL(fdatasync),
	CALL(truncate),
	CALL(ftruncate),
	CALL(getdents),
	CALL(getdents64),
	CALL(getcwd),
	CALL(chdir),
	CALL(fchdir),
	CALL(rename),
	CALL(mkdir),
	CALL(rmdir),
	CALL(creat),
	CALL(link),
	CALL(unlink),
	CALL(symlink),
	CALL(readlink),
	CALL(chmod),
	CALL(fchmod),
	CALL(chown),
	CALL(fchown),
	CALL(lchown),
	CALL(umask),
	CALL(mknod),
	CALL(mknodat),
	CALL(statfs),
	CALL(fstatfs),
	CALL(utime),
	CALL(utimes),
	CALL(utimensat),
	CALL(futimesat),
	CALL(openat),
	CALL(openat2),
	CALL(mkdirat),
	CALL(fchownat),
	CALL(newfstatat),
	CALL(unlinkat),
	CALL(renameat),
	CALL(renameat2),
	CALL(linkat),
	CALL(symlinkat),
	CALL(readlinkat),
	CALL(fchmodat),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(statx),
	CALL(fallocate),
	CALL(fadvise64),
	CALL(readahead),
	CALL(sendfile),
	CALL(copy_file_range),
	CALL(splice),
	CALL(sync),
	CALL(syncfs),
	CALL(sync_file_range),
	CALL(close_range),
	CALL(memfd_create),
	CALL(setxattr),
	CALL(lsetxattr),
	CALL(fsetxattr),
	CALL(getxattr),
	CALL(lgetxattr),
	CALL(fgetxattr),
	CALL(listxattr),
	CALL(llistxattr),
	CALL(flistxattr),
	CALL(removexattr),
	CALL(lremovexattr),
	CALL(fremovexattr),
	CALL(inotify_init),
	CALL(inotify_init1),
	CALL(inotify_add_watch),
	CALL(inotify_rm_watch),
	CALL(eventfd),
	CALL(eventfd2),
	CALL(timerfd_create),
	CALL(timerfd_settime),
	CALL(timerfd_gettime),
	CALL(epoll_create),
	CALL(epoll_create1),
	CALL(epoll_ctl),
	CALL(poll),
	WAITS(ppoll),
	WAITS(select),
	WAITS(pselect6),
	CALL(epoll_wait),
	CALL(epoll_pwait),
	CALL(nanosleep),
	CALL(clock_nanosleep),
	CALL(socket),
	CALL(connect),
	CALL(accept),
	CALL(accept4),
	CALL(sendto),
	CALL(recvfrom),
	CALL(sendmsg),
	CALL(recvmsg),
	CALL(sendmmsg),
	CALL(recvmmsg),
	CALL(shutdown),
	CALL(bind),
	CALL(listen),
	CALL(getsockname),
	CALL(getpeername),
	CALL(socketpair),
	CALL(setsockopt),
	CALL(getsockopt),
	CALL(getppid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(getresuid),
	CALL(getresgid),
	CALL(getgroups),
	CALL(getpgrp),
	CALL(getpgid),
	CALL(setpgid),
	CALL(getsid),
	CALL(setsid),
	CALL(getpriority),
	CALL(getrlimit),
	CALL(setrlimit),
	CALL(prlimit64),
	CALL(getrandom),
	CALL(wait4),
	CALL(waitid),
	CALL(sethostname),
	CALL(sched_getscheduler),
	CALL(sched_getparam),
	CALL(times),
	CALL(alarm),
	CALL(setitimer),
	CALL(getitimer),
	CALL(timer_create),
	CALL(timer_settime),
	CALL(timer_gettime),
	CALL(timer_getoverrun),
	CALL(timer_delete),
	CALL(tee),
	CALL(epoll_pwait2),
	CALL(semop),
	CALL(semtimedop),
	CALL(semget),
	CALL(semctl),
	CALL(msgsnd),
	WAITS(msgrcv),
	CALL(msgctl),
	CALL(mq_open),
	CALL(mq_unlink),
	CALL(mq_getsetattr),
	CALL(mq_timedsend),
	CALL(mq_timedreceive),
	CALL(setpriority),
	CALL(ioprio_get),
	CALL(ioprio_set),
	CALL(capget),
	CALL(sched_get_priority_max),
	CALL(sched_get_priority_min),
	CALL(sched_rr_get_interval),
};

int main(void)
{
	static const struct {
		const char *name;
		unsigned long value;
	} pointers[] = {
		{ "null", 0 },
		{ "unmapped", 0x10000000001 },
		{ "kernel", 0xffffffff81000000 },
		{ "noncanonical", 0x8000000000000001 },
	};
	FILE *out = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100), "w");

	for (size_t p = 0; p < COUNT(pointers); p++) {
		unsigned long v = pointers[p].value;

		for (size_t i = 0; i < COUNT(calls); i++) {
			if (calls[i].waits && !v)
				continue;
			errno = 0;
			fprintf(out, "%s %s: %s\n", pointers[p].name, calls[i].name,
				syscall(calls[i].nr, v, v, v, v, v, v) < 0 ? strerror(errno)
									   : "done");
		}
	}
	return fclose(out) ? 1 : 0;
}
