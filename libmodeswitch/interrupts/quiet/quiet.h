/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quiet for Linux-only jobs (--quiet-irqs): device interrupts stay away from their CPUs.
 *
 * A job that wants it has a record, MS_JOB_QUIET. What was moved is in one file for the whole node,
 * because the CPUs that one such job leaves to interrupts may be the next one's: there is one state
 * before all of them, and it comes back by parts as they end. A pass makes the interrupts what the
 * jobs that are there now want. It is made when one begins or ends, when an LWK job does, and every
 * few seconds by 'lwkctl quiet', a process of its own, which is there as long as such jobs are. A
 * pass that is broken off leaves a file from which the next one goes on; should that process be
 * killed, only those in between are missing.
 */
#ifndef QUIET_H
#define QUIET_H

#include <hwloc.h>

#include "modeswitch/error.h"

/*
 * One pass, with the lock of switching held. 'taken': CPUs of a job that begins just now; or NULL.
 * Quick when no job is quiet. 0 or -1.
 */
int quiet_pass(hwloc_const_bitmap_t taken, struct ms_error *err);

/*
 * One pass as above for a job that has just got its record, with 'os' as the OS CPUs from now on;
 * then starts `lwkctl quiet`. 0 or -1; after -1 the caller removes the record and makes a pass.
 */
int quiet_start(hwloc_const_bitmap_t os, struct ms_error *err);

#endif
