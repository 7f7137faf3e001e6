/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slots of an instance and their threads. With rwsem and process_mutex held. */
#ifndef LWKPART_SLOT_H
#define LWKPART_SLOT_H

#include "process/thread/thread.h"

/*
 * The index of a CPU without threads, if possible on the NUMA node of CPU 'near' (-1: any); or -1.
 */
int cpu_find_idle(struct instance *instance, int near);
/*
 * The index of the CPU with the least to do, 'near' itself if no other has less. With a process
 * only CPUs on which that has threads.
 */
unsigned int cpu_find_shared(struct instance *instance, unsigned int near,
			     const struct lwk_process *process);
/* A free slot, if possible one whose doorbells to Linux are the CPU's; or -1. */
int slot_find(struct instance *instance, unsigned int cpu);
/*
 * Gives a free slot to a thread, which begins on 'cpu': 0, or -EIO when the slot does not obey the
 * order.
 */
int slot_take(struct instance *instance, unsigned int slot, unsigned int cpu,
	      struct lwk_thread *thread, u32 order, u32 pid);
/* Takes the slots of all threads back. False: an LWK CPU does not let go of the process. */
bool slots_release(struct lwk_process *process);

#endif
