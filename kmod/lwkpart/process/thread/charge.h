/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges a proxy with the CPU time and memory of its LWK process. Unless a comment says otherwise,
 * the functions run in the proxy's context; the caller holds rwsem, and the instance is in a state
 * that has processes.
 */
#ifndef LWKPART_CHARGE_H
#define LWKPART_CHARGE_H

#include <linux/mm_types.h>

#include "instance/instance.h"

struct charge {
	u64 user, system; /* TSC cycles of the slot that are charged, or were another's */
	u64 when_ns;	  /* monotonic */
	/* Under charges_lock (charge.c). */
	struct list_head link;
	struct mm_struct *mm; /* that has the window, or NULL */
	unsigned int windows; /* mapped parts of the window */
	long rss_pages;	      /* pages of 4 KB that 'mm' is charged with */
};

int charge_init(void);
void charge_exit(void);
/* Remembers the slot's times, so that the next charge begins here. */
void charge_begin(const struct instance *instance, unsigned int slot, struct charge *charge);
/* Charges time and memory, at most once a second. One call at a time. */
void charge_proxy(struct instance *instance, unsigned int slot, struct charge *charge);
/* Charges the memory now, if the caller's memory map has the window. */
void charge_memory(const struct instance *instance, unsigned int slot, struct charge *charge);
/* Charges the time now; the proxy's memory map may be gone already. */
void charge_cpu_time(struct instance *instance, unsigned int slot, struct charge *charge);
/* A part of the window is mapped, or is no longer. Any process; without rwsem. */
void charge_open(struct charge *charge, struct mm_struct *mm);
void charge_close(struct charge *charge, struct mm_struct *mm);
/* True when this memory map has the window. Any context. */
bool charge_is_of(struct charge *charge, const struct mm_struct *mm);

#endif
