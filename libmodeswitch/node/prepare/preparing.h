/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state that the parts of a call of ms_prepare() share. state.c keeps the changes made;
 * memory.c and interrupts.c each do and undo their part of the separation. Functions return 0, or
 * -1 with the reason in p->err.
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
	 * The changes that an undo takes back: the arrays "blocks" and "interrupts", and "pending",
	 * a block that may be on its way.
	 */
	struct json_object *state;
	struct json_object *report; /* for the caller of ms_prepare() */
	bool incomplete;	    /* some of it could not be done, or undone */
	struct ms_error *err;
};

/* The result of one change that an undo takes back. */
enum change {
	CHANGE_MADE,
	CHANGE_REFUSED, /* the block or interrupt stays as it was */
	CHANGE_STOPPED, /* an error or a signal, with the reason in p->err */
};

/* Reads p->state from the state directory; an empty object when nothing has been changed. */
int read_state(struct preparing *p);
/* Writes p->state, durably. */
int write_state(struct preparing *p);
/* Removes the file, because all is as it was. */
int remove_state(struct preparing *p);

/* Adds an empty array to the object. */
struct json_object *add_array(struct json_object *object, const char *key);
/* The object's array of that name, which is added when it is not there. */
struct json_object *array_of(struct json_object *object, const char *key);

/* Finishes or forgets the block that an earlier call was changing when it was killed. */
void finish_pending_block(struct preparing *p);
/* Puts the memory blocks of these NUMA nodes into ZONE_MOVABLE, as far as they go. */
int separate_memory(struct preparing *p, hwloc_const_bitmap_t job_nodes);
/* Puts all changed blocks back into the kernel's zone, as far as they go. */
int undo_memory(struct preparing *p);

/* Moves all device interrupts to the OS CPUs, as far as they can be moved. */
int steer_interrupts(struct preparing *p);
/* Moves the interrupts back. */
void undo_interrupts(struct preparing *p);

#endif
