/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quiet for Linux-only jobs (--quiet-irqs): device interrupts stay away from their CPUs.
 *
 * A quiet job has a record in state MS_JOB_QUIET. One file for the whole node remembers the
 * interrupts that were moved: the CPUs that one quiet job leaves to interrupts may belong to the
 * next one, so the file has the state before all of them, and it comes back in parts as they end.
 *
 * A pass gives all interrupts the CPUs that the present jobs ask for. A pass is made when a quiet
 * job or an LWK job begins or ends, and every few seconds by `lwkctl quiet`, a process that runs as
 * long as there are quiet jobs. The next pass continues one that was broken off. If `lwkctl quiet`
 * is killed, only its passes are missing.
 */
#ifndef QUIET_H
#define QUIET_H

#include <hwloc.h>

#include "modeswitch/error.h"

/*
 * Makes a pass, with the lock of switching held. 'taken': CPUs of an LWK job that begins, or NULL.
 * Takes little time when no job is quiet. 0 or -1.
 */
int quiet_make_pass(hwloc_const_bitmap_t taken, struct ms_error *err);

/*
 * Makes a pass for a job that has just got its record, with 'os' as the OS CPUs from now on, and
 * starts `lwkctl quiet`. 0 or -1; after -1 the caller removes the record and makes another pass.
 */
int quiet_start(hwloc_const_bitmap_t os, struct ms_error *err);

#endif
