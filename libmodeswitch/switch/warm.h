/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KeepWarm=: the partition of an LWK job that is over stays lent for a while, so that another LWK
 * job that wants just this partition can boot at once.
 *
 * At most one partition of a node is warm. An instance without a kernel, which belongs to root and
 * has the old job's id, holds it. The old job's journal stays, and its record says MS_JOB_WARM, so
 * everything that undoes a job undoes the partition, too. The process 'lwkctl cool' gives it back
 * when its time is over; if that process is killed, the next job on the node does.
 *
 * The caller of each function holds the lock of switching.
 */
#ifndef WARM_H
#define WARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/found.h"
#include "driver/driver.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "switch/steps/step.h"

struct warm {
	uint32_t job_id;
	uid_t uid; /* the job's user */
	char image[MS_IMAGE_NAME_MAX + 1];
	bool memory_is_own;   /* the memory has nothing of other users */
	int instance;	      /* holds the partition; MS_NO_INSTANCE: it is gone */
	struct ms_lent *lent; /* the instance's CPUs and memory */
	size_t n;
};

/*
 * Ends the job's LWK and keeps its partition. -1: the partition is not wanted or cannot be kept,
 * and the caller must switch the job off, however far this got.
 */
int warm_keep(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/* Finds the warm partition; warm_release() it. */
enum found warm_find(const struct driver *driver, int dev, struct warm *warm, struct ms_error *err);
void warm_release(struct warm *warm);

/* True when the plan wants to take exactly this partition. */
bool warm_fits(const struct warm *warm, const struct ms_plan *plan);

/*
 * Gives the partition to the switching job, whose journal is there and empty, and forgets the old
 * job. Afterwards only warm_steps are left to do.
 */
int warm_adopt(struct switching *switching, const struct warm *warm, struct ms_error *err);

/* Gives every warm partition back to Linux; 'over': only one whose time is over. */
int warm_end(bool over, ms_say say, void *context, struct ms_error *err);

#endif
