/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of system calls. A row says LOCAL (done here), WORK (done here, and long enough for its
 * time to be counted), DELEGATED (done by Linux through the proxy, restarted after a signal where
 * Linux would), UNRESTARTED (delegated, EINTR stays EINTR), or ABSENT (ENOSYS, which glibc expects
 * of an older kernel). A call without a row is refused (refused.c). Calls are
 * with their topic (signals/, process/, memory/share.c, memory/policy.c); the others are in this
 * folder.
 */
#include "lwk/calls/table.h"

#include <linux/errno.h>

#include "abi/shared/linux_calls.h"
#include "abi/shared/statistics.h"
#include "lwk/calls/cpus.h"
#include "lwk/calls/delegate.h"
#include "lwk/calls/identity.h"
#include "lwk/calls/memory.h"
#include "lwk/calls/refused.h"
#include "lwk/calls/time.h"
#include "lwk/machine/trap.h"
#include "lwk/memory/policy.h"
#include "lwk/memory/share.h"
#include "lwk/memory/visit.h"
#include "lwk/process/fork.h"
#include "lwk/process/futex.h"
#include "lwk/process/slot.h"
#include "lwk/process/thread.h"
#include "lwk/signals/action.h"
#include "lwk/signals/altstack.h"
#include "lwk/signals/deliver.h"
#include "lwk/signals/send.h"
#include "lwk/signals/wait.h"
#include "lwk/time/cpu_timers.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

static s64 sys_done(struct frame *frame)
{
	return 0;
}

enum kind { REFUSED = 0, LOCAL_KIND, WORK_KIND, DELEGATED_KIND, UNRESTARTED_KIND, ABSENT_KIND };

struct call {
	u8 kind;
	u8 about; /* with delegated calls: enum lwk_call_kind */
	s64 (*local)(struct frame *frame);
};

#define LOCAL(function)                                                                            \
	{                                                                                          \
		LOCAL_KIND, 0, function                                                            \
	}
#define WORK(function)                                                                             \
	{                                                                                          \
		WORK_KIND, 0, function                                                             \
	}
#define DELEGATED(about)                                                                           \
	{                                                                                          \
		DELEGATED_KIND, LWK_CALLS_##about, NULL                                            \
	}
#define UNRESTARTED(about)                                                                         \
	{                                                                                          \
		UNRESTARTED_KIND, LWK_CALLS_##about, NULL                                          \
	}
#define ABSENT                                                                                     \
	{                                                                                          \
		ABSENT_KIND, 0, NULL                                                               \
	}

static const struct call calls[] = {
	/* files */
	[__NR_read] = DELEGATED(TRANSFER),
	[__NR_write] = DELEGATED(TRANSFER),
	[__NR_open] = DELEGATED(FILES),
	[__NR_close] = DELEGATED(FILES),
	[__NR_stat] = DELEGATED(FILES),
	[__NR_fstat] = DELEGATED(FILES),
	[__NR_lstat] = DELEGATED(FILES),
	[__NR_lseek] = DELEGATED(FILES),
	[__NR_ioctl] = DELEGATED(FILES),
	[__NR_pread64] = DELEGATED(TRANSFER),
	[__NR_pwrite64] = DELEGATED(TRANSFER),
	[__NR_readv] = DELEGATED(TRANSFER),
	[__NR_writev] = DELEGATED(TRANSFER),
	[__NR_preadv] = DELEGATED(TRANSFER),
	[__NR_pwritev] = DELEGATED(TRANSFER),
	[__NR_preadv2] = DELEGATED(TRANSFER),
	[__NR_pwritev2] = DELEGATED(TRANSFER),
	[__NR_access] = DELEGATED(FILES),
	[__NR_pipe] = DELEGATED(FILES),
	[__NR_pipe2] = DELEGATED(FILES),
	[__NR_dup] = DELEGATED(FILES),
	[__NR_dup2] = DELEGATED(FILES),
	[__NR_dup3] = DELEGATED(FILES),
	[__NR_fcntl] = DELEGATED(FILES),
	[__NR_flock] = DELEGATED(FILES),
	[__NR_fsync] = DELEGATED(FILES),
	[__NR_fdatasync] = DELEGATED(FILES),
	[__NR_truncate] = DELEGATED(FILES),
	[__NR_ftruncate] = DELEGATED(FILES),
	[__NR_getdents] = DELEGATED(FILES),
	[__NR_getdents64] = DELEGATED(FILES),
	[__NR_getcwd] = DELEGATED(FILES),
	[__NR_chdir] = DELEGATED(FILES),
	[__NR_fchdir] = DELEGATED(FILES),
	[__NR_rename] = DELEGATED(FILES),
	[__NR_mkdir] = DELEGATED(FILES),
	[__NR_rmdir] = DELEGATED(FILES),
	[__NR_creat] = DELEGATED(FILES),
	[__NR_link] = DELEGATED(FILES),
	[__NR_unlink] = DELEGATED(FILES),
	[__NR_symlink] = DELEGATED(FILES),
	[__NR_readlink] = DELEGATED(FILES),
	[__NR_chmod] = DELEGATED(FILES),
	[__NR_fchmod] = DELEGATED(FILES),
	[__NR_chown] = DELEGATED(FILES),
	[__NR_fchown] = DELEGATED(FILES),
	[__NR_lchown] = DELEGATED(FILES),
	[__NR_umask] = DELEGATED(FILES),
	[__NR_mknod] = DELEGATED(FILES),
	[__NR_mknodat] = DELEGATED(FILES),
	[__NR_statfs] = DELEGATED(FILES),
	[__NR_fstatfs] = DELEGATED(FILES),
	[__NR_utime] = DELEGATED(FILES),
	[__NR_utimes] = DELEGATED(FILES),
	[__NR_utimensat] = DELEGATED(FILES),
	[__NR_futimesat] = DELEGATED(FILES),
	[__NR_openat] = DELEGATED(FILES),
	[__NR_openat2] = DELEGATED(FILES),
	[__NR_mkdirat] = DELEGATED(FILES),
	[__NR_fchownat] = DELEGATED(FILES),
	[__NR_newfstatat] = DELEGATED(FILES),
	[__NR_unlinkat] = DELEGATED(FILES),
	[__NR_renameat] = DELEGATED(FILES),
	[__NR_renameat2] = DELEGATED(FILES),
	[__NR_linkat] = DELEGATED(FILES),
	[__NR_symlinkat] = DELEGATED(FILES),
	[__NR_readlinkat] = DELEGATED(FILES),
	[__NR_fchmodat] = DELEGATED(FILES),
	[__NR_faccessat] = DELEGATED(FILES),
	[__NR_faccessat2] = DELEGATED(FILES),
	[__NR_statx] = DELEGATED(FILES),
	[__NR_fallocate] = DELEGATED(FILES),
	[__NR_fadvise64] = DELEGATED(FILES),
	[__NR_readahead] = DELEGATED(FILES),
	[__NR_sendfile] = DELEGATED(TRANSFER),
	[__NR_copy_file_range] = DELEGATED(TRANSFER),
	[__NR_splice] = DELEGATED(TRANSFER),
	[__NR_tee] = DELEGATED(TRANSFER),
	[__NR_sync] = DELEGATED(FILES),
	[__NR_syncfs] = DELEGATED(FILES),
	[__NR_sync_file_range] = DELEGATED(FILES),
	[__NR_close_range] = DELEGATED(FILES),
	[__NR_memfd_create] = DELEGATED(FILES),
	[__NR_setxattr] = DELEGATED(FILES),
	[__NR_lsetxattr] = DELEGATED(FILES),
	[__NR_fsetxattr] = DELEGATED(FILES),
	[__NR_getxattr] = DELEGATED(FILES),
	[__NR_lgetxattr] = DELEGATED(FILES),
	[__NR_fgetxattr] = DELEGATED(FILES),
	[__NR_listxattr] = DELEGATED(FILES),
	[__NR_llistxattr] = DELEGATED(FILES),
	[__NR_flistxattr] = DELEGATED(FILES),
	[__NR_removexattr] = DELEGATED(FILES),
	[__NR_lremovexattr] = DELEGATED(FILES),
	[__NR_fremovexattr] = DELEGATED(FILES),
	[__NR_inotify_init] = DELEGATED(FILES),
	[__NR_inotify_init1] = DELEGATED(FILES),
	[__NR_inotify_add_watch] = DELEGATED(FILES),
	[__NR_inotify_rm_watch] = DELEGATED(FILES),
	[__NR_eventfd] = DELEGATED(FILES),
	[__NR_eventfd2] = DELEGATED(FILES),
	[__NR_timerfd_create] = DELEGATED(TIME),
	[__NR_timerfd_settime] = DELEGATED(TIME),
	[__NR_timerfd_gettime] = DELEGATED(TIME),
	[__NR_epoll_create] = DELEGATED(WAIT),
	[__NR_epoll_create1] = DELEGATED(WAIT),
	[__NR_epoll_ctl] = DELEGATED(WAIT),

	/* waiting: Linux never restarts these after a handler (signal(7)) */
	[__NR_poll] = UNRESTARTED(WAIT),
	[__NR_ppoll] = UNRESTARTED(WAIT),
	[__NR_select] = UNRESTARTED(WAIT),
	[__NR_pselect6] = UNRESTARTED(WAIT),
	[__NR_epoll_wait] = UNRESTARTED(WAIT),
	[__NR_epoll_pwait] = UNRESTARTED(WAIT),
	[__NR_nanosleep] = UNRESTARTED(WAIT),
	[__NR_clock_nanosleep] = LOCAL(sys_clock_nanosleep), /* other clocks: UNRESTARTED */
	[__NR_epoll_pwait2] = UNRESTARTED(WAIT),
	[__NR_semop] = UNRESTARTED(WAIT),
	[__NR_semtimedop] = UNRESTARTED(WAIT),
	[__NR_msgsnd] = UNRESTARTED(WAIT),
	[__NR_msgrcv] = UNRESTARTED(WAIT),

	/* messages, semaphores, segments */
	[__NR_semget] = DELEGATED(FILES),
	[__NR_semctl] = DELEGATED(FILES),
	[__NR_shmget] = DELEGATED(FILES),
	[__NR_shmctl] = DELEGATED(FILES),
	[__NR_shmat] = WORK(sys_shmat),
	[__NR_shmdt] = WORK(sys_shmdt),
	[__NR_msgget] = DELEGATED(FILES),
	[__NR_msgctl] = DELEGATED(FILES),
	[__NR_mq_open] = DELEGATED(FILES),
	[__NR_mq_unlink] = DELEGATED(FILES),
	[__NR_mq_getsetattr] = DELEGATED(FILES),
	[__NR_mq_notify] = DELEGATED(FILES),
	[__NR_mq_timedsend] = DELEGATED(WAIT),
	[__NR_mq_timedreceive] = DELEGATED(WAIT),

	/* sockets */
	[__NR_socket] = DELEGATED(NETWORK),
	[__NR_connect] = DELEGATED(NETWORK),
	[__NR_accept] = DELEGATED(NETWORK),
	[__NR_accept4] = DELEGATED(NETWORK),
	[__NR_sendto] = DELEGATED(NETWORK),
	[__NR_recvfrom] = DELEGATED(NETWORK),
	[__NR_sendmsg] = DELEGATED(NETWORK),
	[__NR_recvmsg] = DELEGATED(NETWORK),
	[__NR_sendmmsg] = DELEGATED(NETWORK),
	[__NR_recvmmsg] = DELEGATED(NETWORK),
	[__NR_shutdown] = DELEGATED(NETWORK),
	[__NR_bind] = DELEGATED(NETWORK),
	[__NR_listen] = DELEGATED(NETWORK),
	[__NR_getsockname] = DELEGATED(NETWORK),
	[__NR_getpeername] = DELEGATED(NETWORK),
	[__NR_socketpair] = DELEGATED(NETWORK),
	[__NR_setsockopt] = DELEGATED(NETWORK),
	[__NR_getsockopt] = DELEGATED(NETWORK),

	/* identity: the proxy's is the process's */
	[__NR_getpid] = LOCAL(sys_getpid),
	[__NR_gettid] = LOCAL(sys_gettid),
	[__NR_getppid] = DELEGATED(PROCESS),
	[__NR_getuid] = DELEGATED(PROCESS),
	[__NR_geteuid] = DELEGATED(PROCESS),
	[__NR_getgid] = DELEGATED(PROCESS),
	[__NR_getegid] = DELEGATED(PROCESS),
	[__NR_getresuid] = DELEGATED(PROCESS),
	[__NR_getresgid] = DELEGATED(PROCESS),
	[__NR_getgroups] = DELEGATED(PROCESS),
	[__NR_setuid] = DELEGATED(PROCESS),
	[__NR_setgid] = DELEGATED(PROCESS),
	[__NR_setreuid] = DELEGATED(PROCESS),
	[__NR_setregid] = DELEGATED(PROCESS),
	[__NR_setresuid] = DELEGATED(PROCESS),
	[__NR_setresgid] = DELEGATED(PROCESS),
	[__NR_setfsuid] = DELEGATED(PROCESS),
	[__NR_setfsgid] = DELEGATED(PROCESS),
	[__NR_setgroups] = DELEGATED(PROCESS),
	[__NR_getpgrp] = DELEGATED(PROCESS),
	[__NR_getpgid] = DELEGATED(PROCESS),
	[__NR_setpgid] = DELEGATED(PROCESS),
	[__NR_getsid] = DELEGATED(PROCESS),
	[__NR_setsid] = DELEGATED(PROCESS),
	[__NR_getpriority] = DELEGATED(PROCESS),
	[__NR_setpriority] = DELEGATED(PROCESS),
	[__NR_ioprio_get] = DELEGATED(PROCESS),
	[__NR_ioprio_set] = DELEGATED(PROCESS),
	[__NR_capget] = DELEGATED(PROCESS),
	[__NR_getrlimit] = DELEGATED(PROCESS),
	[__NR_setrlimit] = DELEGATED(PROCESS),
	[__NR_prlimit64] = DELEGATED(PROCESS),
	[__NR_getrandom] = DELEGATED(PROCESS),
	[__NR_prctl] = LOCAL(sys_prctl),
	[__NR_uname] = LOCAL(sys_uname),
	[__NR_set_tid_address] = LOCAL(sys_set_tid_address),
	[__NR_arch_prctl] = LOCAL(sys_arch_prctl),
	[__NR_wait4] = DELEGATED(WAIT),
	[__NR_waitid] = DELEGATED(WAIT),
	[__NR_sethostname] = DELEGATED(PROCESS),

	/* CPUs */
	[__NR_sched_yield] = LOCAL(sys_sched_yield),
	[__NR_getcpu] = LOCAL(sys_getcpu),
	[__NR_sched_getaffinity] = LOCAL(sys_sched_getaffinity),
	[__NR_sched_setaffinity] = LOCAL(sys_sched_setaffinity),
	[__NR_membarrier] = WORK(sys_membarrier),
	[__NR_sched_getscheduler] = LOCAL(sys_sched_getscheduler),
	[__NR_sched_setscheduler] = LOCAL(sys_sched_setscheduler),
	[__NR_sched_setparam] = LOCAL(sys_sched_setparam),
	[__NR_sched_getparam] = DELEGATED(PROCESS),
	[__NR_sched_get_priority_max] = DELEGATED(PROCESS),
	[__NR_sched_get_priority_min] = DELEGATED(PROCESS),
	[__NR_sched_rr_get_interval] = DELEGATED(PROCESS),

	/* memory */
	[__NR_mmap] = WORK(sys_mmap),
	[__NR_munmap] = WORK(sys_munmap),
	[__NR_mprotect] = WORK(sys_mprotect),
	[__NR_pkey_alloc] = LOCAL(sys_pkey_alloc),
	[__NR_pkey_free] = LOCAL(sys_pkey_free),
	[__NR_pkey_mprotect] = WORK(sys_pkey_mprotect),
	[__NR_move_pages] = WORK(sys_move_pages),
	[__NR_brk] = WORK(sys_brk),
	[__NR_mremap] = WORK(sys_mremap),
	[__NR_mincore] = WORK(sys_mincore),
	[__NR_madvise] = WORK(sys_madvise),
	[__NR_set_mempolicy] = LOCAL(sys_set_mempolicy),
	[__NR_get_mempolicy] = WORK(sys_get_mempolicy),
	[__NR_mbind] = WORK(sys_mbind),
	[__NR_msync] = LOCAL(sys_msync),
	[__NR_sysinfo] = LOCAL(sys_sysinfo),
	[__NR_process_vm_readv] = WORK(sys_process_vm_readv),
	[__NR_process_vm_writev] = WORK(sys_process_vm_writev),
	/* nothing is ever paged out */
	[__NR_mlock] = LOCAL(sys_done),
	[__NR_mlock2] = LOCAL(sys_done),
	[__NR_munlock] = LOCAL(sys_done),
	[__NR_mlockall] = LOCAL(sys_done),
	[__NR_munlockall] = LOCAL(sys_done),

	/* time */
	[__NR_clock_gettime] = LOCAL(sys_clock_gettime),
	[__NR_clock_getres] = LOCAL(sys_clock_getres),
	[__NR_gettimeofday] = LOCAL(sys_gettimeofday),
	[__NR_time] = LOCAL(sys_time),
	[__NR_getrusage] = LOCAL(sys_getrusage),
	[__NR_times] = LOCAL(sys_times),
	[__NR_alarm] = DELEGATED(TIME),
	[__NR_setitimer] = LOCAL(sys_setitimer),
	[__NR_getitimer] = LOCAL(sys_getitimer),
	[__NR_timer_create] = LOCAL(sys_timer_create),
	[__NR_timer_settime] = LOCAL(sys_timer_settime),
	[__NR_timer_gettime] = LOCAL(sys_timer_gettime),
	[__NR_timer_getoverrun] = LOCAL(sys_timer_getoverrun),
	[__NR_timer_delete] = LOCAL(sys_timer_delete),

	/* signals */
	[__NR_rt_sigaction] = LOCAL(sys_rt_sigaction),
	[__NR_rt_sigprocmask] = LOCAL(sys_rt_sigprocmask),
	[__NR_rt_sigreturn] = LOCAL(signal_return),
	[__NR_rt_sigpending] = LOCAL(sys_rt_sigpending),
	[__NR_rt_sigtimedwait] = LOCAL(sys_rt_sigtimedwait),
	[__NR_rt_sigqueueinfo] = LOCAL(sys_rt_sigqueueinfo),
	[__NR_rt_tgsigqueueinfo] = LOCAL(sys_rt_tgsigqueueinfo),
	[__NR_rt_sigsuspend] = LOCAL(sys_rt_sigsuspend),
	[__NR_pause] = LOCAL(sys_pause),
	[__NR_sigaltstack] = LOCAL(sys_sigaltstack),
	[__NR_kill] = LOCAL(sys_kill),
	[__NR_tkill] = LOCAL(sys_tkill),
	[__NR_tgkill] = LOCAL(sys_tgkill),

	/* processes and threads */
	[__NR_exit] = LOCAL(sys_exit),
	[__NR_exit_group] = LOCAL(sys_exit_group),
	[__NR_clone] = LOCAL(sys_clone),
	[__NR_fork] = LOCAL(sys_fork),
	[__NR_vfork] = LOCAL(sys_vfork),
	[__NR_execve] = LOCAL(sys_execve),
	[__NR_execveat] = LOCAL(sys_execveat),
	[__NR_clone3] = ABSENT, /* glibc then takes clone */
	[__NR_futex] = LOCAL(sys_futex),
	[__NR_set_robust_list] = LOCAL(sys_set_robust_list),
	[__NR_rseq] = ABSENT,
	[__NR_pidfd_open] = DELEGATED(PROCESS),
	[__NR_pidfd_send_signal] = DELEGATED(PROCESS),
	[__NR_pidfd_getfd] = DELEGATED(PROCESS),
};

static s64 work(struct frame *frame, const struct call *call)
{
	s64 result;

	account(LWK_CPU_SYSTEM);
	result = call->local(frame);
	account(LWK_CPU_USER);
	return result;
}

static s64 dispatch(struct frame *frame)
{
	u64 nr = frame->error;
	const struct call *call = nr < ARRAY_SIZE(calls) ? &calls[nr] : NULL;

	switch (call ? call->kind : REFUSED) {
	case LOCAL_KIND:
		this_slot()->status->local_calls++;
		return call->local(frame);
	case WORK_KIND:
		this_slot()->status->local_calls++;
		return work(frame, call);
	case DELEGATED_KIND:
	case UNRESTARTED_KIND:
		return call_delegate(frame, call->about, call->kind == DELEGATED_KIND);
	case ABSENT_KIND:
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
