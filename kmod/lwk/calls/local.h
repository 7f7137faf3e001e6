/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the LWK does itself: sys_NAME() is in the file of its topic. The time of
 * the LONG ones counts as the system's; to look at the clock would take longer than a SHORT one.
 */
#ifndef LWK_CALLS_LOCAL_H
#define LWK_CALLS_LOCAL_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/* clang-format off */
#define SHORT_CALLS(X) \
	X(arch_prctl) X(clock_getres) X(clock_gettime) X(clock_nanosleep) X(clone) X(execve) \
	X(execveat) X(exit) X(exit_group) X(fork) X(futex) X(getcpu) X(getitimer) X(getpid) \
	X(getrusage) X(gettid) X(kill) X(msync) X(pause) X(pkey_alloc) X(pkey_free) \
	X(rt_sigaction) X(rt_sigpending) X(rt_sigprocmask) X(rt_sigqueueinfo) X(rt_sigreturn) \
	X(rt_sigsuspend) X(rt_sigtimedwait) X(rt_tgsigqueueinfo) X(sched_getaffinity) \
	X(sched_setaffinity) X(sched_yield) X(set_mempolicy) X(set_robust_list) \
	X(set_tid_address) X(setitimer) X(sigaltstack) X(tgkill) X(timer_create) X(timer_delete) \
	X(timer_getoverrun) X(timer_gettime) X(timer_settime) X(times) X(tkill) X(vfork)
#define LONG_CALLS(X) \
	X(brk) X(get_mempolicy) X(madvise) X(mbind) X(membarrier) X(mincore) X(mlock) \
	X(mlock2) X(mmap) X(move_pages) X(mprotect) X(mremap) X(munmap) X(pkey_mprotect) \
	X(process_vm_readv) X(process_vm_writev) X(shmat) X(shmdt)
/* clang-format on */

#define DECLARE_CALL(name) s64 sys_##name(struct frame *frame);
SHORT_CALLS(DECLARE_CALL)
LONG_CALLS(DECLARE_CALL)

#endif
