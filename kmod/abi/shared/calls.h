/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Calls through a channel that are no system calls of Linux. */
#ifndef ABI_SHARED_CALLS_H
#define ABI_SHARED_CALLS_H

#include <linux/types.h>

/*
 * The numbers are beyond any system call.
 * LWK → proxy:
 *   EXIT    notice; args: wait status as of wait(2), a struct lwk_cause. The process has ended.
 *   UNMAP   request; args: start, size. The proxy calls LWK_UNMAP.
 *   SIGNAL_ACTION  notice; args: signal, action. 0: default; 1: ignore; 2: handler; 3: ignore, but
 *           pass it on, because it may be blocked.
 *   THREAD  request. The proxy makes a thread of its own, which gets one more slot
 *           (LWK_THREAD_CREATE) and serves its channel. Result: 0; -EAGAIN: no slot is free; or
 *           another negative error.
 *   FORK    request; args: the asking slot, number of its offer, 1 for vfork(2), and then the
 *           caller's stack pointer if the offer is a copy. The proxy makes a child, which makes an
 *           LWK process and sends it COPY. Result: the child's pid, or a negative error.
 *   FORK_WAIT  request, after a FORK for vfork(2). The proxy replies when the child has another
 *           program or has ended.
 *   EXEC    request; args: as of execveat(2), then the signals that are blocked. The proxy starts
 *           itself again (LWK_PROC_AGAIN), and replies only with an error.
 *   SIGNAL  request; args: a struct lwk_signal. The proxy sends it to the thread of this process
 *           that it names, as rt_tgsigqueueinfo(2); to the asking thread itself, it stays with
 *           Linux until EXEC.
 *   SIGNALS_HELD  request; args: signals that the asking thread blocks and that are described
 *           (struct lwk_channel). The proxy's thread blocks just these.
 *   SIGNALS_TAKEN  notice. There is room again for the signals that the proxy has 'held'.
 *   SHARE   request; args: start, size, prot, flags, fd, offset, as of mmap(2). The proxy maps the
 *           file at start; with LWK_SHARE_SEGMENT in flags, fd is a segment of shmget(2). Result:
 *           0; 1: the pages of this file cannot be shared, and nothing is mapped; or a negative
 *           error.
 *   SEGMENT request; args: number of a segment. Result: its size, or a negative error.
 *   DETACH  request; args: address. Result: the size of the segment that was attached there, or
 *           -EINVAL.
 *   FILE    request; args: fd. Result: a number for the file behind it, for AREA; 0: it has none.
 *   AREA    request, one for each mapping, after a reply LWK_RESULT_AREAS; args: start, end, prot,
 *           LWK_AREA_*, number of the file that was mapped there or 0, offset in that file.
 *   LOAD    request; args: number of a file (FILE), start, size, offset. The proxy reads that part
 *           of the file to start, and zeros to the end of the file's last page. Result: the bytes
 *           of the file, fewer where it ends before; or a negative error.
 *   CORE    request; args: the signal that ends the process. Result: 1 if the proxy writes a core
 *           file (core(5)); CORE_THREAD, AREA and CORE_PAGES follow in this order, then EXIT.
 *   CORE_THREAD  request; args: number of a thread, its next LWK_CORE_WORDS words: of struct
 *           lwk_core_registers, then for the thread that ends the process, the first, of FXSAVE's
 *           area. The last packet of each has zeros behind the end.
 *   CORE_PAGES  request; args: start, end, by address. The range has pages. A mapping has
 *           none outside the ranges that are told.
 *   GRANT   request. The proxy calls LWK_GRANT.
 *   UNSHARE request; args: start, size. The proxy calls LWK_GRANT, and maps its WINDOW there.
 *   RESHARE request; args: start, size, prot. The proxy calls LWK_GRANT, then mprotect(2).
 *   number of a system call | AGAIN  request; args: as before. A signal has ended the same thread's
 *           last call, this one, and is blocked or ignored: the call goes on. If the call waits for
 *           a time, it waits for the rest.
 * proxy → LWK, each a request that the LWK replies to:
 *   MAP     args: start, size, prot, now. The LWK maps anonymous zeroed memory at start;
 *           with 'now' 1, all of it is present at once.
 *   RESERVE args: start, size. The proxy has something of its own at these addresses, and no
 *           window: the process gets nothing there.
 *   PROTECT args: start, size, prot, as of mprotect(2).
 *   BRK     args: start of the heap.
 *   NAME    args: start, size, number of a file (FILE), offset. The file has been loaded there.
 *   START   args: entry point, stack pointer, signals that are blocked, signals that are
 *           ignored (bit s-1: signal s), user, address of LWK_CPUS_BYTES with the CPUs that the
 *           process may use, as of sched_setaffinity(2), or 0. The LWK replies, then runs the
 *           process.
 *   COPY    args: slot and number of a FORK. The LWK makes this process, which must be empty, a
 *           copy of the asking one, replies, then runs it. -ENOMEM; -EINVAL: there is no such
 *           offer.
 */
#define LWK_CALL_BASE 0x10000UL

/* The cause of a process's end, if the LWK has ended it. */
enum lwk_cause_kind {
	LWK_CAUSE_NONE = 0,  /* the program, or somebody's signal */
	LWK_CAUSE_MEMORY,    /* the partition has no memory left */
	LWK_CAUSE_EXCEPTION, /* an exception of the CPU, without a handler for its signal */
	LWK_CAUSE_STACK,     /* a stack without room for a signal handler's frame */
	LWK_CAUSE_FRAME,     /* rt_sigreturn(2) of a damaged frame */
};
struct lwk_cause {
	__u64 kind;	 /* enum lwk_cause_kind */
	__u64 exception; /* its vector, and its error code << 8 */
	__u64 at;	 /* address of the instruction */
	__u64 address;	 /* page fault: the address that it needed */
};

/* The registers of user mode when a thread entered the kernel. */
struct lwk_core_registers {
	/* As struct user_regs_struct begins, but vector and error code where it has orig_rax. */
	__u64 frame[22];
	__u64 fs_base, gs_base;
};
#define LWK_CORE_WORDS 5
#define LWK_CORE_FPU_WORDS 64

#define LWK_CALL_EXIT (LWK_CALL_BASE + 0)
#define LWK_CALL_UNMAP (LWK_CALL_BASE + 1)
#define LWK_CALL_SIGNAL_ACTION (LWK_CALL_BASE + 2)
#define LWK_CALL_THREAD (LWK_CALL_BASE + 3)
#define LWK_CALL_FORK (LWK_CALL_BASE + 4)
#define LWK_CALL_FORK_WAIT (LWK_CALL_BASE + 5)
#define LWK_CALL_EXEC (LWK_CALL_BASE + 6)
#define LWK_CALL_SIGNAL (LWK_CALL_BASE + 7)
#define LWK_CALL_SIGNALS_TAKEN (LWK_CALL_BASE + 14)
#define LWK_CALL_SHARE (LWK_CALL_BASE + 16)
#define LWK_CALL_GRANT (LWK_CALL_BASE + 17)
#define LWK_CALL_UNSHARE (LWK_CALL_BASE + 18)
#define LWK_CALL_RESHARE (LWK_CALL_BASE + 19)
#define LWK_CALL_SEGMENT (LWK_CALL_BASE + 20)
#define LWK_CALL_DETACH (LWK_CALL_BASE + 21)
#define LWK_CALL_FILE (LWK_CALL_BASE + 22)
#define LWK_CALL_AREA (LWK_CALL_BASE + 23)
#define LWK_CALL_SIGNALS_HELD (LWK_CALL_BASE + 24)
#define LWK_CALL_LOAD (LWK_CALL_BASE + 25)
#define LWK_CALL_CORE (LWK_CALL_BASE + 26)
#define LWK_CALL_CORE_THREAD (LWK_CALL_BASE + 27)
#define LWK_CALL_CORE_PAGES (LWK_CALL_BASE + 28)
#define LWK_CALL_AGAIN (LWK_CALL_BASE << 1)
/*
 * Numbers of timers of CPU time, which the LWK has itself, begin here; Linux's are much smaller. A
 * timer with the second bit sends its signals to one thread.
 */
#define LWK_TIMER_BASE 0x40000000U
#define LWK_TIMER_OF_THREAD 0x20000000U
#define LWK_SHARE_SEGMENT (1UL << 32)
#define LWK_CPUS_BYTES 1024
#define LWK_AREA_SHARED 1
#define LWK_AREA_HEAP 2
/* A result of open(2), no errno: the proxy wants all AREAs, and then the same request once more. */
#define LWK_RESULT_AREAS (-0x10000L)
#define LWK_CALL_MAP (LWK_CALL_BASE + 8)
#define LWK_CALL_BRK (LWK_CALL_BASE + 9)
#define LWK_CALL_START (LWK_CALL_BASE + 10)
#define LWK_CALL_PROTECT (LWK_CALL_BASE + 11)
#define LWK_CALL_COPY (LWK_CALL_BASE + 12)
#define LWK_CALL_NAME (LWK_CALL_BASE + 13)
#define LWK_CALL_RESERVE (LWK_CALL_BASE + 15)

#endif
