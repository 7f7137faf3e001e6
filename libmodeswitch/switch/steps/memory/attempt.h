/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the taking of a switch's memory goes: what it has got, and how much longer it may take.
 */
#ifndef MEMORY_ATTEMPT_H
#define MEMORY_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "switch/steps/step.h"

/* A block of which programs use less than 1/CRUMB has only pinned pages left, and a gain of less
 * than that is not worth waiting for once there is enough. */
#define CRUMB 16

struct attempt {
	struct switching *switching;
	int64_t last_gain; /* clock_ms() */
	/* The message about a lack of memory tells what stood in the way. */
	unsigned stuck;	 /* blocks that did not go off-line */
	unsigned kernel; /* blocks with pages of the kernel's own */
	bool no_room;	 /* more would make Linux short of memory */
};

uint64_t bytes_taken(const struct switching *switching);

/*
 * The time, by clock_ms(), until which memory is taken. Once the plan has what it must have, that
 * is as long as more comes within a twelfth of SwitchTimeout=, and until a quarter is left: what is
 * more than enough must not cost the job its switch.
 */
int64_t memory_deadline(const struct attempt *attempt);

/* The plan has what it must have, and more is not worth the time. */
bool is_enough(const struct attempt *attempt);

/* Takes 'bytes' that have been got from *left, which are still wanted. */
void gain(struct attempt *attempt, uint64_t bytes, uint64_t *left);

/* Adds a range to switching->memory. 0, or -1 when out of memory. */
int remember_memory(struct switching *switching, const struct ms_lent *lent, struct ms_error *err);

#endif
