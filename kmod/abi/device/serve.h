/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Serving a slot's channel: waiting for packets, ringing doorbells, granting pages. */
#ifndef ABI_DEVICE_SERVE_H
#define ABI_DEVICE_SERVE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/device/device.h"

/*
 * Waits for packets from the LWK: looks for a time that depends on how long
 * the last packets took to come, then sleeps. With LWK_SERVE_CALLS, lwkpart.ko carries out requests
 * for the most used calls on files and replies to them, as if the caller had made
 * them; where that would make a difference (ptrace, seccomp, audit, a pending signal)
 * it leaves them in the channel for the caller. With LWK_SERVE_BY_SERVER, too, one of the callers
 * that wait makes some of these calls for the others while they wait.
 *
 * Returns when the channel holds a packet for the caller, or with 'has_reply': a call was
 * carried out, and something that Linux does on the way back to the caller (signals,
 * the last close of a file, always that of the device's own file) comes before its reply, which the
 * caller now sends.
 *
 * The caller keeps its counts in the channel itself: to_linux.count and to_lwk.count.
 * EINTR: a signal; EIO: the instance is no longer RUNNING; EINVAL.
 */
struct lwk_serve {
	__u32 flags;
	__u32 has_reply; /* out */
	__u32 id;	 /* out, with has_reply: of the request */
	__u32 keep_from; /* calls on this descriptor and all above are left to the caller */
	__s64 result;	 /* out, with has_reply */
	__u64 served;	 /* out: calls carried out here so far */
	__u64 by_server; /* out: calls that servers have made for the thread so far */
};
#define LWK_SERVE_CALLS 1U
#define LWK_SERVE_BY_SERVER 2U

/*
 * Threads of the proxy that have the WINDOW mapped and a handler for this signal get it when the
 * LWK has panicked, hangs or is shut down, and again until the process ends: what they wait for
 * outside of the device gives EINTR then. It is one of the two that C libraries keep for
 * themselves, so that no program ignores it.
 */
#define LWK_SIGNAL_GONE 33

#define LWK_SERVE _IOWR(LWK_IOC, 0x02, struct lwk_serve)

/*
 * Makes the LWK CPU look at the channel: interrupts it if it has halted, or if a signal
 * is pending, unless it has seen the reply in the meantime.
 */
#define LWK_DOORBELL _IO(LWK_IOC, 0x03)

/*
 * Carries out the order of the calling thread's slot (struct lwk_grant): pins pages of files that
 * the caller has mapped shared, or unpins them. The LWK reads the result from its struct lwk_grant;
 * the caller gets 0, or EPERM, EIO; EINVAL: there is no order.
 */
#define LWK_GRANT _IO(LWK_IOC, 0x10)

#endif
