/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step of a switch, the switch that it works on, and what several steps need. Each step is in a
 * file of its own in this folder; table.h has them in their order.
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

/* A switch that is going on, in either direction. */
struct switching {
	uint32_t job_id;
	uid_t uid;
	const struct driver *driver;
	int dev; /* of the driver; -1 when its module is not loaded */
	struct journal *journal;
	struct ms_times *times; /* NULL: nobody wants to know */
	/* Says what is undone; NULL: nobody wants to know. */
	ms_say say;
	void *say_context;

	/* Only while switching on. */
	const struct ms_config *config;
	struct ms_plan *plan;
	int64_t deadline; /* clock_ms() */
	void *image;	  /* the file */
	size_t image_size;
	struct ms_lent *memory; /* taken so far */
	size_t n_memory;
	uint64_t vacated; /* bytes of other programs that were moved away for it */
	int instance;
	struct ms_irq_spread irqs_before;
};

struct step {
	const char *name;
	/* What undo needs to know, for the journal; NULL: nothing. */
	struct json_object *(*details)(struct switching *switching);
	int (*run)(struct switching *switching, struct ms_error *err);
	/*
	 * Undoes one entry of the journal; NULL when there is nothing to undo, and then
	 * nothing is recorded. The entry may have been undone before, or never been done.
	 */
	int (*undo)(struct switching *switching, struct json_object *entry, struct ms_error *err);
	/* After all undoing: is nothing of that entry left? */
	int (*check)(struct switching *switching, struct json_object *entry, struct ms_error *err);
};

/* -1 with a reason when a signal has come or time is over. */
int switching_may_go_on(const struct switching *switching, struct ms_error *err);

void switching_say(const struct switching *switching, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Who has what the ledger names. */
enum owner { OWNER_NOBODY, OWNER_THIS_JOB, OWNER_OTHER_JOB };
enum owner switching_owner(const struct switching *switching, const struct ms_lent *lent);

/* The ledger, empty when the module is not loaded; free(). */
int switching_ledger(const struct switching *switching, struct ms_lent **lent, size_t *n,
		     struct ms_error *err);

#endif
