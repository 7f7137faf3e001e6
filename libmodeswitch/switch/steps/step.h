/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step of a switch, the switch that it works on, and what several steps need. Steps that change
 * the same thing, such as the instance, share a file of this folder; table.h has them in their
 * order.
 */
#ifndef STEP_H
#define STEP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "driver/driver.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "store/journal.h"

/* For how long Linux may be busy when a CPU is taken from it, and when one is given back. */
#define TAKE_CPU_MS 3000
#define RETURN_CPU_MS 10000

/* A switch that is going on, in either direction. */
struct switching {
	uint32_t job_id;
	uid_t uid;
	const struct driver *driver;
	int dev; /* the driver's file descriptor; -1 when its module is not loaded */
	struct journal *journal;
	struct ms_times *times; /* gets how long each step takes; may be NULL */
	ms_say say;		/* hears what is given back; may be NULL */
	void *say_context;

	/* The rest is set only while switching on. */
	const struct ms_config *config;
	struct ms_plan *plan;
	int64_t deadline; /* clock_ms() */
	void *image;	  /* the file */
	size_t image_size;
	struct ms_lent *memory; /* the memory taken so far */
	size_t n_memory;
	bool memory_is_own; /* what is in it is an earlier job's of this user */
	uint64_t vacated;   /* bytes of other programs that were moved out of it */
	int instance;	    /* its number */
	struct ms_irq_spread irqs_before;
};

struct step {
	const char *name;
	/* Makes what undo needs to know, for the journal. NULL: undo needs nothing. */
	struct json_object *(*details)(struct switching *switching);
	int (*run)(struct switching *switching, struct ms_error *err);
	/*
	 * Undoes one entry of the journal, which may have been undone before, or never been done.
	 * NULL: the step needs no undoing, and the journal gets no entry of it.
	 */
	int (*undo)(struct switching *switching, struct json_object *entry, struct ms_error *err);
	/* Called after all undoing; -1 when something of that entry is left. May be NULL. */
	int (*check)(struct switching *switching, struct json_object *entry, struct ms_error *err);
};

/* 0; or -1 with a reason when a signal has come or the deadline is over. */
int switching_may_go_on(const struct switching *switching, struct ms_error *err);

/* Tells switching->say one line. */
void switching_say(const struct switching *switching, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Tells who has a CPU or range of memory that is in the ledger. */
enum owner { OWNER_NOBODY, OWNER_THIS_JOB, OWNER_OTHER_JOB };
enum owner switching_owner(const struct switching *switching, const struct ms_lent *lent);

/* Reads the ledger, which is empty when the module is not loaded; free() *lent. 0 or -1. */
int switching_ledger(const struct switching *switching, struct ms_lent **lent, size_t *n,
		     struct ms_error *err);

#endif
