/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Slurm allocated to a job on this node, as the library wants it. */
#ifndef SPANK_REQUEST_H
#define SPANK_REQUEST_H

#include <hwloc.h>
#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"
#include "modeswitch/plan.h"

/* What the user wrote, checked by nobody. */
struct asked {
	const char *image;	   /* "" for the default */
	const char *memory, *numa; /* --lwk-mem, --lwk-numa; or NULL */
	const char *proxy_memory;  /* --lwk-proxy-mem; or NULL */
};

/*
 * Asks slurmctld, and checks what the user asked for. Only in the process
 * that slurmd starts for job_prolog: nowhere else is Slurm's CPU map at hand.
 * Free what it holds with request_release().
 */
int request_build(uint32_t job_id, uid_t uid, const struct asked *asked, struct ms_request *request,
		  struct ms_error *err);
void request_release(struct ms_request *request);

/* The CPUs alone, for a job that gets no LWK. There, too. */
int request_cpus(uint32_t job_id, uid_t uid, hwloc_bitmap_t cpus, struct ms_error *err);

#endif
