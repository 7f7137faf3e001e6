/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a pass (quiet.h), for each other. */
#ifndef QUIET_PASS_H
#define QUIET_PASS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <json-c/json.h>

#include "interrupts/steer.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"

/* What the process that watches remembers from pass to pass. */
struct quiet_memory {
	struct ms_irqs before; /* the last reading */
	hwloc_bitmap_t quiet;  /* whose CPUs these counts are about */
	double *carried;       /* interrupts of devices, by CPU number */
	double interval;       /* seconds from pass to pass */
	size_t n_carried;
};

struct quiet_pass {
	/*
	 * "os": the OS CPUs; "interrupts": those that were moved, "irq", "name", "was", "now", and
	 * "before" while "now" is being set; or "refused", those that cannot be moved.
	 * "cpus", "irqs": what irqbalance shall leave alone; "added_…": the part of it that is by
	 * our will.
	 */
	struct json_object *state;
	struct quiet_memory *memory; /* NULL: rates are those since boot */
	hwloc_bitmap_t online, quiet, busy, os;
	size_t n_jobs;
	struct ms_irqs counts;

	/* By the same place as in 'counts'; without 'was': not for us to move. */
	struct steer_irq *irqs;
	size_t n;
	bool disturbed; /* somebody else moves interrupts */
	bool changed;	/* the file is to be written */
};

/* No file is an empty object, the caller's as any other. 0 or -1. */
int quiet_read_state(struct json_object **state, struct ms_error *err);

/* Writes the file, or removes it when there is nothing to remember. 0 or -1. */
int quiet_write_state(struct quiet_pass *pass, struct ms_error *err);

/* "interrupts", which stays the state's. */
struct json_object *quiet_entries(struct quiet_pass *pass);

/* The one of interrupt 'irq', or NULL. */
struct json_object *quiet_find_entry(struct quiet_pass *pass, const char *irq);
void quiet_drop_entry(struct quiet_pass *pass, struct json_object *entry);

/* Can the kernel not move it? */
bool quiet_is_refused(struct json_object *entry);

/* A member that is a list of numbers; what is none is an empty one. */
void quiet_read_set(struct json_object *object, const char *key, hwloc_bitmap_t set);

/* 'more': what it shall leave alone from now on; else: what it need not any more. 0 or -1. */
int quiet_tell_irqbalance(struct quiet_pass *pass, enum steer_place place, bool more,
			  struct ms_error *err);

/*
 * With the lock of switching held. 'os': NULL: as the last one said; 'memory': NULL: rates are
 * those since boot. The number of quiet jobs, or -1.
 */
ssize_t quiet_run_pass(hwloc_const_bitmap_t taken, hwloc_const_bitmap_t os,
		       struct quiet_memory *memory, struct ms_error *err);

#endif
