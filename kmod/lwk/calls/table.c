/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of system calls: those that the LWK does itself (local.h), and groups of the others. A
 * call without a place here is refused.
 */
#include "lwk/calls/table.h"

#include <linux/errno.h>

#include "abi/shared/linux_calls.h"
#include "lwk/calls/delegate.h"
#include "lwk/calls/local.h"
#include "lwk/machine/trap.h"
#include "lwk/process/slot.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

#define LOCAL_CALL(name) [__NR_##name] = sys_##name,
static s64 (*const local[])(struct frame *frame) = { SHORT_CALLS(LOCAL_CALL)
							     LONG_CALLS(LOCAL_CALL) };

enum kind {
	UNKNOWN,
	SHORT,	   /* done here */
	LONG,	   /* done here; its time is counted */
	DELEGATED, /* done by Linux through the proxy, restarted after a signal where Linux would */
	UNRESTARTED, /* delegated, EINTR stays EINTR */
	DONE,	     /* there is nothing to do */
	ABSENT,	     /* ENOSYS, which glibc expects of an older kernel */
	REFUSED,
};

struct group {
	enum kind kind;
	enum lwk_call_kind about; /* delegated calls */
	const char *reason;	  /* refused calls; as lwk-calls(7) has it */
	const u16 *calls;
	u32 n;
};

#define NUMBERS(...)                                                                               \
	(const u16[])                                                                              \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define GROUP(kind, about, reason, ...)                                                            \
	{ kind, about, reason, NUMBERS(__VA_ARGS__), ARRAY_SIZE((NUMBERS(__VA_ARGS__))) }
#define DELEGATES(about, ...) GROUP(DELEGATED, LWK_CALLS_##about, NULL, __VA_ARGS__)
#define REFUSES(reason, ...) GROUP(REFUSED, 0, reason, __VA_ARGS__)
#define NUMBER(name) __NR_##name,

static const struct group groups[] = {
	GROUP(UNKNOWN, 0, NULL, 0),
	GROUP(SHORT, 0, NULL, SHORT_CALLS(NUMBER)),
	GROUP(LONG, 0, NULL, LONG_CALLS(NUMBER)),
	DELEGATES(TRANSFER, __NR_read, __NR_write, __NR_pread64, __NR_pwrite64, __NR_readv,
		  __NR_writev, __NR_preadv, __NR_pwritev, __NR_preadv2, __NR_pwritev2,
		  __NR_sendfile, __NR_copy_file_range, __NR_splice, __NR_tee, __NR_vmsplice),
	DELEGATES(FILES, __NR_open, __NR_close, __NR_stat, __NR_fstat, __NR_lstat, __NR_lseek,
		  __NR_ioctl, __NR_access, __NR_pipe, __NR_pipe2, __NR_dup, __NR_dup2, __NR_dup3,
		  __NR_fcntl, __NR_flock, __NR_fsync, __NR_fdatasync, __NR_truncate, __NR_ftruncate,
		  __NR_getdents, __NR_getdents64, __NR_getcwd, __NR_chdir, __NR_fchdir, __NR_rename,
		  __NR_mkdir, __NR_rmdir, __NR_creat, __NR_link, __NR_unlink, __NR_symlink,
		  __NR_readlink, __NR_chmod, __NR_fchmod, __NR_chown, __NR_fchown, __NR_lchown,
		  __NR_umask, __NR_mknod, __NR_mknodat, __NR_statfs, __NR_fstatfs, __NR_utime,
		  __NR_utimes, __NR_utimensat, __NR_futimesat, __NR_openat, __NR_openat2,
		  __NR_mkdirat, __NR_fchownat, __NR_newfstatat, __NR_unlinkat, __NR_renameat,
		  __NR_renameat2, __NR_linkat, __NR_symlinkat, __NR_readlinkat, __NR_fchmodat,
		  __NR_faccessat, __NR_faccessat2, __NR_statx, __NR_fallocate, __NR_fadvise64,
		  __NR_readahead, __NR_sync, __NR_syncfs, __NR_sync_file_range, __NR_close_range,
		  __NR_memfd_create, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_getxattr,
		  __NR_lgetxattr, __NR_fgetxattr, __NR_listxattr, __NR_llistxattr, __NR_flistxattr,
		  __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, __NR_inotify_init,
		  __NR_inotify_init1, __NR_inotify_add_watch, __NR_inotify_rm_watch, __NR_eventfd,
		  __NR_eventfd2, __NR_semget, __NR_semctl, __NR_shmget, __NR_shmctl, __NR_msgget,
		  __NR_msgctl, __NR_mq_open, __NR_mq_unlink, __NR_mq_getsetattr, __NR_mq_notify,
		  __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_sysfs, __NR_ustat),
	DELEGATES(TIME, __NR_timerfd_create, __NR_timerfd_settime, __NR_timerfd_gettime,
		  __NR_gettimeofday, __NR_time, __NR_alarm, __NR_adjtimex, __NR_clock_adjtime,
		  __NR_clock_settime, __NR_settimeofday),
	DELEGATES(WAIT, __NR_epoll_create, __NR_epoll_create1, __NR_epoll_ctl, __NR_mq_timedsend,
		  __NR_mq_timedreceive, __NR_wait4, __NR_waitid),
	DELEGATES(NETWORK, __NR_socket, __NR_connect, __NR_accept, __NR_accept4, __NR_sendto,
		  __NR_recvfrom, __NR_sendmsg, __NR_recvmsg, __NR_sendmmsg, __NR_recvmmsg,
		  __NR_shutdown, __NR_bind, __NR_listen, __NR_getsockname, __NR_getpeername,
		  __NR_socketpair, __NR_setsockopt, __NR_getsockopt),
	DELEGATES(PROCESS, __NR_getppid, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid,
		  __NR_getresuid, __NR_getresgid, __NR_getgroups, __NR_setuid, __NR_setgid,
		  __NR_setreuid, __NR_setregid, __NR_setresuid, __NR_setresgid, __NR_setfsuid,
		  __NR_setfsgid, __NR_setgroups, __NR_getpgrp, __NR_getpgid, __NR_setpgid,
		  __NR_getsid, __NR_setsid, __NR_getpriority, __NR_setpriority, __NR_ioprio_get,
		  __NR_ioprio_set, __NR_capget, __NR_getrlimit, __NR_setrlimit, __NR_prlimit64,
		  __NR_getrandom, __NR_sethostname, __NR_sched_getparam, __NR_sched_setparam,
		  __NR_sched_getscheduler, __NR_sched_setscheduler, __NR_sched_getattr,
		  __NR_sched_setattr, __NR_sched_get_priority_max, __NR_sched_get_priority_min,
		  __NR_sched_rr_get_interval, __NR_pidfd_open, __NR_pidfd_send_signal,
		  __NR_pidfd_getfd, __NR_prctl, __NR_uname, __NR_sysinfo, __NR_add_key,
		  __NR_request_key, __NR_keyctl, __NR_capset, __NR_kcmp, __NR_personality,
		  __NR_signalfd, __NR_signalfd4),
	/* Linux never restarts these after a handler (signal(7)). */
	GROUP(UNRESTARTED, LWK_CALLS_WAIT, NULL, __NR_poll, __NR_ppoll, __NR_select, __NR_pselect6,
	      __NR_epoll_wait, __NR_epoll_pwait, __NR_nanosleep, __NR_epoll_pwait2, __NR_semop,
	      __NR_semtimedop, __NR_msgsnd, __NR_msgrcv),
	/* Nothing is ever paged out. */
	GROUP(DONE, 0, NULL, __NR_munlock, __NR_mlockall, __NR_munlockall),
	/* After clone3(2), glibc takes clone(2). */
	GROUP(ABSENT, 0, NULL, __NR_clone3, __NR_rseq),
	REFUSES("for administrators", __NR_acct, __NR_chroot, __NR_delete_module,
		__NR_fanotify_init, __NR_fanotify_mark, __NR_finit_module, __NR_fsconfig,
		__NR_fsmount, __NR_fsopen, __NR_fspick, __NR_init_module, __NR_ioperm, __NR_iopl,
		__NR_kexec_file_load, __NR_kexec_load, __NR_lookup_dcookie, __NR_mount,
		__NR_mount_setattr, __NR_move_mount, __NR_open_tree, __NR_pivot_root, __NR_quotactl,
		__NR_quotactl_fd, __NR_reboot, __NR_setdomainname, __NR_swapoff, __NR_swapon,
		__NR_syslog, __NR_umount2, __NR_vhangup),
	REFUSES("the proxy's identity is fixed", __NR_landlock_add_rule,
		__NR_landlock_create_ruleset, __NR_landlock_restrict_self, __NR_seccomp, __NR_setns,
		__NR_unshare),
	REFUSES("Linux does not see LWK CPUs", __NR_bpf, __NR_perf_event_open, __NR_ptrace),
	REFUSES("needs shared rings", __NR_io_cancel, __NR_io_destroy, __NR_io_getevents,
		__NR_io_pgetevents, __NR_io_setup, __NR_io_submit, __NR_io_uring_enter,
		__NR_io_uring_register, __NR_io_uring_setup),
	REFUSES("would share LWK memory", __NR_memfd_secret, __NR_process_madvise,
		__NR_remap_file_pages, __NR_userfaultfd),
	REFUSES("pages stay where they are", __NR_migrate_pages, __NR_set_mempolicy_home_node),
	REFUSES("Linux has dropped it", __NR__sysctl, __NR_afs_syscall, __NR_create_module,
		__NR_epoll_ctl_old, __NR_epoll_wait_old, __NR_get_kernel_syms, __NR_getpmsg,
		__NR_nfsservctl, __NR_putpmsg, __NR_query_module, __NR_security, __NR_tuxcall,
		__NR_uselib, __NR_vserver),
};

/* The index of each call's group. */
static u8 group_of[512];

void calls_init(void)
{
	for (u32 g = 1; g < ARRAY_SIZE(groups); g++)
		for (u32 i = 0; i < groups[g].n; i++)
			group_of[groups[g].calls[i]] = g;
}

static const struct group *find_group(u64 nr)
{
	return &groups[nr < ARRAY_SIZE(group_of) ? group_of[nr] : 0];
}

s64 refuse(u64 nr)
{
	/* All numbers that Linux has no call for share the last bit. */
	static u64 told[ARRAY_SIZE(group_of) / 64];
	u64 at = MIN(nr, ARRAY_SIZE(group_of) - 1), bit = 1UL << at % 64;
	const char *reason = find_group(nr)->reason;

	if (!(__atomic_fetch_or(&told[at / 64], bit, __ATOMIC_RELAXED) & bit))
		print("pid %u: system call %llu is not on this LWK: %s", this_process()->pid, nr,
		      reason ? reason : "not implemented");
	return -ENOSYS;
}

static s64 call_long(struct frame *frame, u64 nr)
{
	s64 result;

	account(LWK_CPU_SYSTEM);
	result = local[nr](frame);
	account(LWK_CPU_USER);
	return result;
}

static s64 dispatch(struct frame *frame)
{
	u64 nr = frame->error;
	const struct group *group = find_group(nr);

	switch (__builtin_expect(group->kind, SHORT)) {
	case SHORT:
	case LONG:
		this_slot()->status->local_calls++;
		return group->kind == LONG ? call_long(frame, nr) : local[nr](frame);
	case DELEGATED:
	case UNRESTARTED:
		return call_delegate(frame, group->about, group->kind == DELEGATED);
	case DONE:
		this_slot()->status->local_calls++;
		return 0;
	case ABSENT:
		return -ENOSYS;
	default:
		return refuse(nr);
	}
}

void syscall(struct frame *frame)
{
	heartbeat();
	frame->rax = dispatch(frame);
	before_user(frame);
	leave_kernel();
}
