/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK's header; the slot that a simulated CPU runs is not found by its GS base. */
#ifndef MODEL_LWK_SLOT_H
#define MODEL_LWK_SLOT_H

#define this_slot hardware_this_slot
#define this_process hardware_this_process
#define this_thread hardware_this_thread
#include_next "lwk/process/slot.h"
#undef this_slot
#undef this_process
#undef this_thread

/* lwk.c has it. */
struct slot *this_slot(void);

static inline struct process *this_process(void)
{
	return this_slot()->process;
}

static inline struct thread *this_thread(void)
{
	return &this_slot()->thread;
}

#endif
