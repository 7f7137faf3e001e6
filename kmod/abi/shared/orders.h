/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Orders of lwkpart.ko to a slot, and the LWK's answers, where no proxy can reach. */
#ifndef ABI_SHARED_ORDERS_H
#define ABI_SHARED_ORDERS_H

#include <linux/types.h>

#include "abi/shared/layout.h"

/*
 * When a proxy touches its WINDOW where no page is yet, lwkpart.ko asks the LWK to make
 * one: it writes fault_addr and fault_kind, then fault_state ASKED; the LWK
 * answers with READY, REFUSED or HIDE, and rings its doorbell if fault_sleeps is not 0 then. HIDE:
 * the proxy must lose its view of the 2 MB around the page first; then lwkpart.ko asks again.
 * In the same way it asks for the pages back that it has granted in the fault_size bytes from
 * fault_addr on (REVOKE): when the LWK answers, no CPU of it can reach them, or pages that were
 * granted there before, any more.
 * In the page table entry of a page that it maps in the WINDOW lwkpart.ko sets
 * LWK_PTE_SEEN_BY_LINUX. For such a page the LWK must send UNMAP before it uses the page for
 * something else.
 * A page with LWK_PTE_COPY may be several processes': the process that writes gets a copy.
 */
#define LWK_PTE_SEEN_BY_LINUX (1UL << 9)
#define LWK_PTE_COPY (1UL << 52)
enum lwk_fault_kind {
	LWK_FAULT_READ = 0,
	LWK_FAULT_WRITE,
	LWK_FAULT_REVOKE,
};
enum lwk_fault_state {
	LWK_FAULT_IDLE = 0,
	LWK_FAULT_ASKED,
	LWK_FAULT_READY,
	LWK_FAULT_REFUSED,
	LWK_FAULT_HIDE,
};

/* Only lwkpart.ko writes an order. */
enum lwk_order {
	LWK_ORDER_NONE = 0, /* no process: be idle */
	LWK_ORDER_PROCESS,  /* have a process and serve its channel */
	LWK_ORDER_THREAD,   /* have a thread of the process of slot 'leader' when that wants one */
};

/*
 * The part of a connection that a proxy cannot reach is an array of one cache line per
 * slot. lwkpart.ko writes order, cpu, newcomer, freeze, pid, leader, fault_addr, fault_kind,
 * fault_size, fault_sleeps and fault_state ASKED; the LWK writes obeyed, page_root and the answers
 * in fault_state.
 */
struct lwk_control {
	__u32 order;	   /* enum lwk_order */
	__u32 obeyed;	   /* the order that the slot has carried out */
	__u32 pid;	   /* of the process, or of the thread */
	__u32 fault_state; /* enum lwk_fault_state */
	__u64 fault_addr;
	__u32 fault_kind; /* enum lwk_fault_kind */
	/*
	 * Not 0: after the next doorbell the CPU runs its process no further, is in the state
	 * FROZEN, and halts until this is 0 again. It still makes pages and obeys orders.
	 */
	__u32 freeze;
	union {
		__u32 leader;	/* with LWK_ORDER_THREAD: slot of the process's first thread */
		__u32 newcomer; /* of a CPU's own slot: the free slot with an order for the CPU */
	};
	__u32 fault_sleeps;
	__u64 page_root; /* physical address of the process's page tables, or 0 */
	__u64 fault_size;
	__u32 cpu; /* the index of the CPU that an order to a free slot is for */
} LWK_LINE_ALIGNED;

#endif
