/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* LWK processes and their threads, as their proxy makes and ends them. */
#ifndef ABI_DEVICE_PROCESS_H
#define ABI_DEVICE_PROCESS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"

/*
 * Makes an LWK process on a free LWK CPU; the calling process becomes its proxy.
 * With LWK_PROC_SHARE and no free CPU, the process shares the CPU of slot 'index'.
 * The process lives as long as this open file, and when its proxy is the last to close that, it has ended
 * afterwards; nobody else waits for its end. EAGAIN: every LWK CPU has a process, or the CPU of
 * 'index' has as many threads as it can have; EBUSY: the instance is FREEZING or FROZEN; EHOSTDOWN:
 * the instance does not run; EALREADY: this file has a process; EACCES: the caller's effective user
 * is not the instance's, which binds root, too. Other errors: the caller could not be moved into the
 * instance's cgroups (LWKPART_CONFINE).
 *
 * With LWK_PROC_AGAIN, the file has a process whose proxy is the caller: that process ends, and a
 * new one begins in its first slot, which nobody else can get meanwhile; its other slots are given
 * back. The caller must not touch what it has mapped of the old process before that. EPERM: the
 * caller is not the proxy; EINVAL: the file has no process; EIO: the CPU does not answer, and the
 * process has ended.
 */
#define LWK_PROC_AGAIN 1U
#define LWK_PROC_SHARE 2U
struct lwk_proc_create {
	__u32 index; /* out: slot of the first thread; in: with LWK_PROC_SHARE, a slot */
	__u32 cpu;   /* out: Linux's number of its CPU */
	__u32 pid;   /* in: the result of getpid() in the LWK */
	__u32 flags;
};

/*
 * Gives the process of this file one more slot (shared/layout.h) for a thread: a slot of a free
 * CPU, or else of that CPU of the process that has the fewest threads. The process keeps it until
 * it ends. From now on LWK_SERVE, LWK_DOORBELL and LWK_MMAP_CHANNEL of the calling Linux thread,
 * one of the process that called LWK_PROC_CREATE, are about this slot's channel; those of threads
 * without a slot are about the first slot's.
 * EAGAIN: the process's CPUs have as many threads as they can have; EALREADY: the caller has a
 * slot; EPERM, EINVAL, EHOSTDOWN, EIO, ENOMEM.
 */
struct lwk_thread_create {
	__u32 index; /* out: the slot */
	__u32 cpu;   /* out: Linux's number of its CPU */
	__u32 flags;
	__u32 reserved;
};

/* Removes the pages of [start, start+size) from the caller's WINDOW. */
struct lwk_unmap {
	__u64 start;
	__u64 size;
};

#define LWK_PROC_CREATE _IOWR(LWK_IOC, 0x01, struct lwk_proc_create)
#define LWK_UNMAP _IOW(LWK_IOC, 0x04, struct lwk_unmap)
#define LWK_THREAD_CREATE _IOWR(LWK_IOC, 0x0a, struct lwk_thread_create)

/*
 * Ends the process, as closing the file does, even while other threads use the file: their
 * LWK_SERVE ends with EIO. The file can have no other process. Returns how many processes the
 * instance still has: when several end together, the last caller gets 0.
 */
#define LWK_PROC_END _IO(LWK_IOC, 0x0b)

#endif
