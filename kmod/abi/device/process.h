/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* LWK processes and their threads, as their proxy makes and ends them. */
#ifndef ABI_DEVICE_PROCESS_H
#define ABI_DEVICE_PROCESS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"

/*
 * Makes an LWK process on a free LWK CPU; the calling process becomes its proxy.
 * With LWK_PROC_SHARE, if none is free, it shares the CPU of the thread that 'index' was said to be of
 * when that was made.
 * The process lives as long as this open file. EAGAIN: every LWK CPU has one, or that one has as many
 * threads as it can have; EBUSY: the
 * instance is FREEZING or FROZEN; EHOSTDOWN: it does not run; EALREADY: this file has one. Other errors: it
 * could not be moved into the instance's cgroups (LWKPART_CONFINE).
 *
 * With LWK_PROC_AGAIN the file has a process, and the caller is its proxy: that one ends, and a new
 * one begins on its first CPU, which nobody else can get meanwhile; other CPUs of it are given
 * back. What the caller had mapped of it is not to be touched before that. EPERM: the caller is
 * not its proxy; EINVAL: it has none; EIO: the CPU does not answer, and the process has ended.
 */
#define LWK_PROC_AGAIN 1U
#define LWK_PROC_SHARE 2U
struct lwk_proc_create {
	__u32 index; /* out: the LWK's number of the first thread: its slot; in with LWK_PROC_SHARE */
	__u32 cpu;   /* out: Linux's number of that CPU */
	__u32 pid;   /* in: what getpid() in the LWK answers */
	__u32 flags;
};

/*
 * Gives the process of this file one more slot (lwkshared.h), for a thread: of a free CPU, or else of
 * that of its own with the fewest threads. The calling Linux thread, one of
 * the process that called LWK_PROC_CREATE, is from now on this slot's: its LWK_SERVE, LWK_DOORBELL
 * and LWK_MMAP_CHANNEL are about this slot's channel; those of others stay the first slot's. The slot
 * is the process's until it ends.
 * EAGAIN: its CPUs have as many threads as they can have; EALREADY: the caller has one; EPERM, EINVAL, EHOSTDOWN, EIO, ENOMEM.
 */
struct lwk_thread_create {
	__u32 index; /* out: the slot */
	__u32 cpu;   /* out: Linux's number of its CPU */
	__u32 flags;
	__u32 reserved;
};

/* Removes pages of [start, start+size) from the caller's WINDOW. */
struct lwk_unmap {
	__u64 start;
	__u64 size;
};

#define LWK_PROC_CREATE _IOWR(LWK_IOC, 0x01, struct lwk_proc_create)
#define LWK_UNMAP _IOW(LWK_IOC, 0x04, struct lwk_unmap)
#define LWK_THREAD_CREATE _IOWR(LWK_IOC, 0x0a, struct lwk_thread_create)

/*
 * Ends the process, as closing the file does, though others may be about to use it: their
 * LWK_SERVE ends with EIO. The file can have no other process. Returns how many processes the
 * instance still has: of those that end together, the last one's caller gets 0.
 */
#define LWK_PROC_END _IO(LWK_IOC, 0x0b)

#endif
