/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KeepWarm=: the partition of an LWK job that is over stays lent for a while, so that another LWK
 * job that wants just that one can boot at once.
 *
 * At most one partition of a node is warm. It is held by an instance of the old job's that belongs
 * to root and has no kernel, its journal stays, and its record says MS_JOB_WARM; so all that undoes
 * a job undoes it too. Its time is watched over by 'lwkctl cool', a process of its own; should
 * that be killed, whatever looks at the node's jobs next finds the partition.
 *
 * All with the lock of switching held.
 */
#ifndef WARM_H
#define WARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "switch/steps/step.h"

struct warm {
	uint32_t job_id;
	int instance;	      /* that holds it; MS_NO_INSTANCE: something is amiss */
	struct ms_lent *lent; /* what it holds */
	size_t n;
};

/*
 * Keeps what the job has, whose LWK is ended. -1: that cannot be, and the job must be switched
 * off, whatever has been done of it.
 */
int warm_keep(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/* The warm partition. 1: found, warm_release() it; 0: there is none; -1: error. */
int warm_find(const struct driver *driver, int dev, struct warm *warm, struct ms_error *err);
void warm_release(struct warm *warm);

/* Is it what the plan wants to take? */
bool warm_fits(const struct warm *warm, const struct ms_plan *plan);

/*
 * Makes it the switching job's, whose journal is there and empty: afterwards nothing but its LWK
 * is missing, and the old job is forgotten.
 */
int warm_adopt(struct switching *switching, const struct warm *warm, struct ms_error *err);

/* Gives it back to Linux, also if there are several; 'over': only if its time is. */
int warm_end(bool over, ms_say say, void *context, struct ms_error *err);

#endif
