/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slots of an instance and their threads. With rwsem and process_mutex held. */
#ifndef LWKPART_SLOT_H
#define LWKPART_SLOT_H

#include "process/thread.h"

/* A free slot of one CPU, or -1. */
int slot_find_on(struct instance *instance, unsigned int cpu);
/* A slot of a CPU without threads, if possible on the NUMA node of CPU 'near' (-1: any); or -1. */
int slot_find_idle(struct instance *instance, int near);
/* A slot of the CPU with the fewest threads, of those that the process has; or -1. */
int slot_find_shared(struct lwk_process *process);
/* Gives a free slot to a thread: 0, or -EIO when the slot does not obey the order. */
int slot_take(struct instance *instance, unsigned int slot, struct lwk_thread *thread, u32 order,
	      u32 pid);
/* Takes the slots of all threads back. False: an LWK CPU does not let go of the process. */
bool slots_release(struct lwk_process *process);

#endif
