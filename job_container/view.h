/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives a task of an LWK job its view of /dev/lwk: its job's instance, and no other. */
#ifndef JOB_CONTAINER_VIEW_H
#define JOB_CONTAINER_VIEW_H

#include <stdint.h>

/*
 * Gives the calling process, and what it starts, a /dev/lwk that holds nothing
 * but the job's own device, under its own number. Root, before the process becomes
 * the user. Does nothing, and succeeds, for a job that is not in LWK mode.
 *
 * The view lives in a mount namespace of the process and goes with it, so there is
 * nothing to clean up when a job or a daemon dies, and another job_container
 * plugin's namespace, entered before, shows through.
 *
 * Slurm calls job_container plugins also for processes that no SPANK plugin sees,
 * such as sessions of pam_slurm_adopt; so the view is made here and not in
 * slurm_spank_task_init_privileged().
 */
int view_enter(uint32_t job_id);

#endif
