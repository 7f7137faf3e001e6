/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call of ms_prepare(): what its parts share. state.c keeps what has been changed; memory.c and
 * interrupts.c each do and undo their part of the separation.
 */
#ifndef PREPARING_H
#define PREPARING_H

#include <hwloc.h>
#include <stdbool.h>
#include <json-c/json.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

struct preparing {
	const struct ms_config *config;
	bool dry_run;
	/*
	 * What has been changed, for undoing: "blocks" and "interrupts", arrays, and "pending", a
	 * block that is, or may be, on its way.
	 */
	struct json_object *state;
	struct json_object *report;
	bool incomplete;
	struct ms_error *err;
};

/* Reads p->state from the state directory; an empty object when nothing has been changed. */
int read_state(struct preparing *p);
/* Writes p->state, durably. */
int write_state(struct preparing *p);
/* Removes the file: all is as it was. */
int remove_state(struct preparing *p);

/* Adds an empty array to the object. */
struct json_object *add_array(struct json_object *object, const char *key);
/* The object's array of that name; added when it is not there. */
struct json_object *array_of(struct json_object *object, const char *key);

/* Settles what an earlier call that was killed has left of a memory block. */
void finish_pending_block(struct preparing *p);
/* Puts the memory blocks of these NUMA nodes into ZONE_MOVABLE, as far as they go. */
int separate_memory(struct preparing *p, hwloc_const_bitmap_t job_nodes);
/* Puts all blocks that were changed back into the kernel's zone, as far as they go. */
int undo_memory(struct preparing *p);

/* Moves all device interrupts to the OS CPUs, as far as they can be moved. */
int steer_interrupts(struct preparing *p);
/* Moves them back. */
void undo_interrupts(struct preparing *p);

#endif
