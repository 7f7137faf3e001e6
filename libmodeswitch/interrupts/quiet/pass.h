/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pass (quiet.h), and the file that remembers moved interrupts. */
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

/* The memory of `lwkctl quiet` from pass to pass. */
struct quiet_memory {
	struct ms_irqs before; /* the last reading */
	hwloc_bitmap_t quiet;  /* the CPUs of quiet jobs since 'carried' was 0 */
	double *carried;       /* device interrupts that each CPU has had, by its number */
	double interval;       /* seconds from pass to pass */
	size_t n_carried;
};

struct quiet_pass {
	/*
	 * The file. "os": the OS CPUs. "interrupts": an entry for each interrupt that was moved,
	 * with "irq", "name", "was" and "now", and with "before" while "now" is being set; or
	 * with "refused" if it cannot be moved. "cpus", "irqs": what irqbalance is to leave alone;
	 * "added_cpus", "added_irqs": the part of these that it did not leave alone before.
	 */
	struct json_object *state;
	struct quiet_memory *memory; /* NULL: rates are averages since boot */
	hwloc_bitmap_t online, quiet, busy, os;
	size_t n_jobs;
	struct ms_irqs counts;

	/* Indexed as 'counts'; an interrupt with an empty 'was' is not moved. */
	struct steer_irq *irqs;
	size_t n;
	bool disturbed; /* somebody else moves interrupts */
	bool changed;	/* the file is out of date */
};

/* Reads the file; without a file *state is an empty object. json_object_put() it. 0 or -1. */
int quiet_read_state(struct json_object **state, struct ms_error *err);

/* Writes the file, or removes it when there is nothing to remember. 0 or -1. */
int quiet_write_state(struct quiet_pass *pass, struct ms_error *err);

/* The array "interrupts", which belongs to the state. */
struct json_object *quiet_entries(struct quiet_pass *pass);

/* The entry of the interrupt 'irq', or NULL. */
struct json_object *quiet_find_entry(struct quiet_pass *pass, const char *irq);
void quiet_drop_entry(struct quiet_pass *pass, struct json_object *entry);

/* True when the kernel has refused to move the interrupt. */
bool quiet_is_refused(struct json_object *entry);

/* Reads a member that is a list of numbers; anything else counts as an empty list. */
void quiet_read_set(struct json_object *object, const char *key, hwloc_bitmap_t set);

/*
 * Tells irqbalance what to leave alone from now on ('more'), or what it need not leave alone any
 * more. 0 or -1.
 */
int quiet_tell_irqbalance(struct quiet_pass *pass, enum steer_place place, bool more,
			  struct ms_error *err);

/*
 * Makes a pass as quiet_make_pass() does. 'os': the OS CPUs from now on; NULL: as in the last pass.
 * 'memory': NULL: rates are averages since boot. The number of quiet jobs, or -1.
 */
ssize_t quiet_run_pass(hwloc_const_bitmap_t taken, hwloc_const_bitmap_t os,
		       struct quiet_memory *memory, struct ms_error *err);

#endif
