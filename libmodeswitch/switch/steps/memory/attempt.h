/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of taking memory for a switch: what has been got, and how much longer it may take.
 */
#ifndef MEMORY_ATTEMPT_H
#define MEMORY_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "switch/steps/step.h"

/*
 * A part of 1/CRUMB of a block is small: what is left in a block that is used less than that is
 * pinned, and a gain of less than that is not worth waiting for once there is enough.
 */
#define CRUMB 16

struct attempt {
	struct switching *switching;
	int64_t last_gain; /* clock_ms() */
	/* The message about a lack of memory tells what stood in the way. */
	unsigned stuck;	 /* blocks that did not go off-line */
	unsigned kernel; /* blocks with pages of the kernel's own */
	bool no_room;	 /* more would make Linux short of memory */
	bool held_up;	 /* a process keeps whoever looks at its memory waiting */
};

/* All bytes that the switch has taken so far. */
uint64_t bytes_taken(const struct switching *switching);

/*
 * The time, by clock_ms(), at which the taking ends. Once the plan has what it must have, it ends
 * when nothing more came for a twelfth of SwitchTimeout=, and when only a quarter of that time is
 * left: more than enough memory must not cost the job its switch.
 */
int64_t memory_deadline(const struct attempt *attempt);

/* True when the plan has the memory that it must have, and more memory is not worth the time. */
bool is_enough(const struct attempt *attempt);

/* Notes that 'bytes' have been got, and subtracts them from *left, which are still wanted. */
void gain(struct attempt *attempt, uint64_t bytes, uint64_t *left);

/* Adds a range to switching->memory. 0, or -1 when out of memory. */
int remember_memory(struct switching *switching, const struct ms_lent *lent, struct ms_error *err);

#endif
