/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The channel between a thread of an LWK process and its proxy. */
#ifndef ABI_SHARED_CHANNEL_H
#define ABI_SHARED_CHANNEL_H

#include <linux/types.h>

#include "abi/shared/layout.h"

/*
 * The channel between an LWK process and its proxy is one page per slot with two
 * rings, each with one writer and one reader. Both sides count packets from 0 on, and their counts
 * wrap at 2^32; packet number c is in slot[c % LWK_RING_SLOTS], and is there when its 'turn' is the
 * lower half of c + 1, which the writer stores last. So a packet and the news of it are one cache
 * line, as in queues whose entries say themselves that they are there (Giacomoni et al., FastForward
 * for efficient pipeline parallelism, 2008).
 *
 * The LWK keeps its counts private. Linux's are in the channel, because the proxy and lwkpart.ko,
 * which serve it in turns, both need them. Each side copies a packet before it looks into it, and
 * the LWK treats an impossible count as the end of the connection.
 *
 * There are three kinds of packet (inter-OS delegation paper, section 3): a REQUEST wants a
 * REPLY with the same id; a NOTICE wants none.
 */
enum lwk_packet_kind {
	LWK_PACKET_REQUEST = 1,
	LWK_PACKET_REPLY = 2,
	LWK_PACKET_NOTICE = 3,
};

struct lwk_packet {
	__u16 kind;
	__u16 turn; /* which packet it is */
	__u32 id;
	/* REQUEST, NOTICE: a system call number, or an LWK_CALL_* (calls.h) */
	__u64 nr;
	/* REQUEST, NOTICE: the arguments; REPLY: args[0] is the result */
	__u64 args[6];
} LWK_LINE_ALIGNED;

#define LWK_RING_SLOTS 16

struct lwk_ring {
	__u32 count LWK_LINE_ALIGNED; /* packets that Linux has read, or written */
	struct lwk_packet slot[LWK_RING_SLOTS];
};

/*
 * A signal: the part of a siginfo_t that Linux keeps. 'thread' is in a gap of siginfo_t: 1 for the
 * slot's thread, 0 for any of the process; with LWK_CALL_SIGNAL a thread's number.
 */
struct lwk_signal {
	__s32 signal;
	__s32 error;
	__s32 code;
	__u32 thread;
	__u64 field[4];
};

/*
 * Signals that the proxy passes on are in a ring, as packets are. When a signal has filled it, the
 * proxy blocks all signals, so that Linux keeps them, and sets 'held' before it moves 'head'. The
 * LWK sends SIGNALS_TAKEN when there is room again.
 */
#define LWK_SIGNAL_SLOTS 32
struct lwk_signals {
	__u32 head LWK_LINE_ALIGNED; /* signals passed on, by the proxy */
	__u32 tail;		     /* signals taken, by the LWK */
	__u32 held;		     /* 1: the proxy waits for room */
	__u32 reserved[13];
	struct lwk_signal slot[LWK_SIGNAL_SLOTS];
};

struct lwk_channel {
	struct lwk_ring to_linux;
	struct lwk_ring to_lwk;

	/* The LWK writes it: 1 when the slot's CPU has halted and only a doorbell makes it look. */
	__u32 lwk_sleeps LWK_LINE_ALIGNED;
	/* Linux writes it: 1 when only a doorbell makes the proxy look. */
	__u32 linux_sleeps LWK_LINE_ALIGNED;
	struct lwk_signals signals;
	/* The proxy writes these in the channel of the process's first slot. */
	__u64 address_limit; /* RLIMIT_AS; 0: none */
	__u64 described; /* signals that descriptors of signalfd(2) tell of; bit s-1: signal s */
} __attribute__((aligned(4096)));

#endif
