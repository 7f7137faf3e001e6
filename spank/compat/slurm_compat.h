/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides what differs between releases of Slurm in the functions and structures of its public
 * headers: the plugins use the newest release's interface, or a function of this header. The
 * release decides, because nobody but SchedMD changes these interfaces. "How to add a Slurm
 * release" in HACKING.md tells what to look at.
 */
#ifndef SPANK_COMPAT_SLURM_COMPAT_H
#define SPANK_COMPAT_SLURM_COMPAT_H

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(20, 11, 0)
#error "slurm-lwk: expected headers of Slurm 20.11 or newer, found older ones; install newer ones"
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 6, 0)
#error "slurm-lwk: expected headers of Slurm 26.05 or older, found newer ones; use a newer slurm-lwk, or see 'How to add a Slurm release' in HACKING.md"
#endif

/* In the prolog's process, before it asks slurmctld anything. */
void compat_prepare_prolog(void);

/* These do what slurm_load_job(), slurm_notify_job() and slurm_complete_job() do. */
int compat_load_job(job_info_msg_t **message, uint32_t job_id, uint16_t flags);
int compat_notify_job(uint32_t job_id, char *message);
int compat_complete_job(uint32_t job_id, uint32_t status);

uint32_t compat_job_id(const slurm_job_info_t *job);
void compat_describe_job(job_desc_msg_t *update, uint32_t job_id);
/* Says that the caller gives the reason in this update of a node. */
void compat_sign_reason(update_node_msg_t *update);

/* Slurm gives these resources of one node to a job. */
struct compat_allocation {
	char *cores; /* Slurm's numbers of the cores, a list; free() it */
	uint64_t megabytes;
};

/*
 * Tells what was allocated to the job, which was loaded with SHOW_DETAIL, on that node. 0, or -1
 * with the reason.
 */
int compat_find_allocation(slurm_job_info_t *job, const char *node,
			   struct compat_allocation *allocation, struct ms_error *err);

/* True when compat_launch_by() can launch the programs of srun --multi-prog. */
bool compat_launches_multi_prog(void);
/*
 * In task_init: has Slurm execute 'launcher', an absolute path, with the task's program and its
 * arguments; releases that cannot do so give it the arguments, and the program in the environment
 * variable LWK_ARGV0. 0 or -1.
 */
int compat_launch_by(spank_t sp, char *launcher);

#endif
