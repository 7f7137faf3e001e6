/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* What lwkpart.ko wants of a slot, and the LWK's answer, where no proxy can reach. */
#ifndef ABI_SHARED_ORDERS_H
#define ABI_SHARED_ORDERS_H

#include <linux/types.h>

#include "abi/shared/layout.h"

/*
 * How lwkpart.ko asks the LWK, on behalf of a proxy that touched its WINDOW where
 * no page is yet, to make one: it writes addr and write, then state ASKED; the LWK
 * answers with READY or REFUSED. In the entry of a page that it maps in the WINDOW
 * lwkpart.ko sets LWK_PTE_SEEN_BY_LINUX, so that the LWK knows for which pages it
 * must send UNMAP before it uses them for something else.
 */
#define LWK_PTE_SEEN_BY_LINUX (1UL << 9)
enum lwk_fault_state {
	LWK_FAULT_IDLE = 0,
	LWK_FAULT_ASKED,
	LWK_FAULT_READY,
	LWK_FAULT_REFUSED,
};

/* What lwkpart.ko wants of a slot; only it writes this. */
enum lwk_order {
	LWK_ORDER_NONE = 0, /* no process: be idle */
	LWK_ORDER_PROCESS,  /* have a process and serve its channel */
	LWK_ORDER_THREAD,   /* have a thread of the process of slot 'leader', when it wants one */
};

/*
 * The part of a connection that a proxy cannot reach, an array of one line per
 * slot: written by lwkpart.ko (order, freeze, pid, leader, fault_addr, fault_write, fault_state
 * ASKED) and the LWK (obeyed, fault_state READY and REFUSED).
 */
struct lwk_control {
	__u32 order;	   /* enum lwk_order */
	__u32 obeyed;	   /* the order that the slot has carried out */
	__u32 pid;	   /* of the process, or of the thread */
	__u32 fault_state; /* enum lwk_fault_state */
	__u64 fault_addr;
	__u32 fault_write;
	/*
	 * Not 0: after the next doorbell the CPU runs its process no further, says FROZEN,
	 * and halts until this is 0 again. It still answers for pages and obeys orders.
	 */
	__u32 freeze;
	__u32 leader; /* with LWK_ORDER_THREAD: slot of the process's first thread */
	__u32 reserved[7];
} LWK_LINE_ALIGNED;

#endif
