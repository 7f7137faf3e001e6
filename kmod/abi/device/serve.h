/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Serving a slot's channel: waiting for its packets, and what the LWK asks of lwkpart.ko through the proxy. */
#ifndef ABI_DEVICE_SERVE_H
#define ABI_DEVICE_SERVE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"

/*
 * Waits for packets from the LWK: first it looks for some time that depends on how long
 * the last ones took to come, then it sleeps. With LWK_SERVE_CALLS requests for the most
 * used calls on files are carried out and replied to within, as if the caller had made
 * them; where that would make a difference (ptrace, seccomp, audit, a pending signal)
 * they are left in the channel as the others are.
 *
 * Returns when the channel holds a packet for the caller, or with 'has_reply': a call was
 * carried out, and something that Linux does on the way back to the caller (signals,
 * the last close of a file) comes before its reply, which the caller now sends.
 *
 * The caller keeps its counts in the channel itself: to_linux.tail and to_lwk.head.
 * EINTR on a signal, EIO when the instance is no longer RUNNING, EINVAL.
 */
struct lwk_serve {
	__u32 flags;
	__u32 has_reply; /* out */
	__u32 id;	 /* out, with has_reply: of the request */
	__u32 keep_from; /* this descriptor, and all above: the caller looks after them */
	__s64 result;	 /* out, with has_reply */
	__u64 served;	 /* out: calls carried out here so far */
};
#define LWK_SERVE_CALLS 1U

#define LWK_SERVE _IOWR(LWK_IOC, 0x02, struct lwk_serve)

/*
 * Makes the LWK CPU look at the channel: interrupts it if it has halted, or if a signal
 * is pending. A reply that it has seen in the meantime is no reason to.
 */
#define LWK_DOORBELL _IO(LWK_IOC, 0x03)

/*
 * Does what the LWK CPU of the calling thread wants (struct lwk_grant): pins pages of files that the
 * caller has mapped shared, or unpins them. Only files whose pages are nothing but memory (tmpfs)
 * can be had. What comes of it, the LWK reads; for the caller it is 0, or EPERM, EIO; EINVAL: the
 * LWK wants nothing.
 */
#define LWK_GRANT _IO(LWK_IOC, 0x10)

#endif
