/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of keeping and of taking over a warm partition.
 */
#ifndef WARM_PARTS_H
#define WARM_PARTS_H

#include <stddef.h>

#include "base/found.h"
#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "switch/steps/step.h"
#include "switch/warm.h"

/* The state of keeping (of 'job') or of taking over (of 'warm'). */
struct warm_run {
	struct switching *switching;
	struct ms_job *job;
	const struct warm *warm;
	struct ms_lent *lent; /* what the job's instance had */
	size_t n;
};

/*
 * Keeping and taking over are done in parts; at each part a fault can be ordered (fault.h), with
 * the direction "keep" or "adopt". The part without a name is the end.
 */
struct warm_part {
	const char *direction, *name;
	int (*run)(struct warm_run *run, struct ms_error *err);
};
extern const struct warm_part keep_parts[], adopt_parts[];

/* Runs the parts one after the other, and the faults that root has ordered. */
int warm_run_parts(const struct warm_part *part, struct warm_run *run, struct ms_error *err);

/* Finds the first warm job; ms_job_release() it. */
enum found warm_find_job(struct ms_job *job, struct ms_error *err);

/* Reads the ledger, and keeps in 'lent' the CPUs and memory of the instance. free() it. */
int warm_holdings(const struct driver *driver, int dev, int instance, struct ms_lent **lent,
		  size_t *n, struct ms_error *err);

#endif
