/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK of a scenario, beside the LWK's own files. */
#ifndef MODEL_LWK_H
#define MODEL_LWK_H

#include <linux/types.h>
#include <stdint.h>

struct lwk_channel;
struct lwk_control;
struct lwk_status;
struct lwk_boot_params;

/*
 * Makes an LWK of so many CPUs, and as many more slots, of which slot n + i is on CPU i and has a
 * process.
 */
void lwk_prepare(unsigned int cpus, struct lwk_boot_params *params, struct lwk_status *status,
		 struct lwk_channel *channels, struct lwk_control *controls);
/* The slots with a process have sent and received so many packets. */
void lwk_count_from(uint32_t count);
/* The calling thread is that CPU from now on, and runs its slot with a process. */
void lwk_begin(unsigned int cpu);
/* The LWK lets go of the page; a scenario defines it. */
void lwk_revokes(__u64 addr);
/* Makes a delegated call. */
__s64 lwk_call(__u64 nr, __u64 arg);
/* The CPU is in user mode for a moment: an interrupt may come, and orders are obeyed. */
void lwk_user_mode(void);
/* The CPU computes in user mode until an interrupt comes. */
void lwk_interrupted(void);

#endif
