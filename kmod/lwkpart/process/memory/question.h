/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A question about a page to the LWK, by struct lwk_control. */
#ifndef LWKPART_QUESTION_H
#define LWKPART_QUESTION_H

#include "abi/shared/orders.h"
#include "process/thread/thread.h"

/* The time that the LWK gets to make a page, or to give pages back. */
#define QUESTION_SECONDS 10

/*
 * Asks the thread's slot about the range. Returns the LWK's answer; REFUSED also when the LWK will
 * not answer any more; ASKED: there is none in time, or a signal came for a 'killable' caller. With
 * fault_mutex held.
 */
u32 question_put(struct lwk_thread *thread, enum lwk_fault_kind kind, unsigned long addr,
		 unsigned long size, bool killable);

#endif
