/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells whether a job that this node has a record of still runs. */
#ifndef JOB_CONTAINER_ALIVE_H
#define JOB_CONTAINER_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* True when a slurmstepd of the job answers in slurmd's spool directory. */
bool alive_here(const char *spool_directory, uint32_t job_id);

enum alive_answer {
	ALIVE_YES,
	ALIVE_NO,
	ALIVE_PROLOG,  /* slurmctld waits for the end of its prolog */
	ALIVE_UNKNOWN, /* slurmctld does not answer */
};

/* Asks slurmctld, which can take a minute. */
enum alive_answer alive_ask_slurmctld(uint32_t job_id);

#endif
