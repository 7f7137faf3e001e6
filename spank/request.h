/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a job's request: what Slurm allocated to the job on this node, and what the user asked
 * for.
 */
#ifndef SPANK_REQUEST_H
#define SPANK_REQUEST_H

#include <hwloc.h>
#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"
#include "modeswitch/plan.h"

/* The user's arguments, which nobody has checked. */
struct asked {
	const char *image;	   /* "" for the default */
	const char *memory, *numa; /* --lwk-mem, --lwk-numa; or NULL */
	const char *proxy_memory;  /* --lwk-proxy-mem; or NULL */
};

/*
 * Asks slurmctld for the allocation, and checks the user's arguments. Works only in the process
 * that slurmd starts for job_prolog, which alone has Slurm's CPU map. Free what the request holds
 * with request_release(). 0, or -1 with the reason.
 */
int request_build(uint32_t job_id, uid_t uid, const struct asked *asked, struct ms_request *request,
		  struct ms_error *err);
void request_release(struct ms_request *request);

/* Adds only the allocated CPUs, for a job that gets no LWK. In the same process; 0 or -1. */
int request_cpus(uint32_t job_id, uid_t uid, hwloc_bitmap_t cpus, struct ms_error *err);

#endif
