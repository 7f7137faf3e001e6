/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file jobs/ID.away: which pages Linux jobs had on NUMA nodes when LWK job ID took them. It is
 * written before the pages move. Once the LWK job has given back its memory, rehome.c brings the
 * pages back and removes the file; whatever is killed in between, the file stays.
 */
#ifndef AWAY_LIST_H
#define AWAY_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "migrate/base/range.h"
#include "modeswitch/error.h"

struct migration;

/*
 * Adds the pages of Linux jobs that a migration is about to move away from 'node' for the LWK job.
 * Pages of other programs are not added: on a node for jobs they are not at home. 0 or -1.
 */
int away_list_add(const struct migration *migration, uint32_t lwk_job, unsigned node,
		  struct ms_error *err);
/* Another LWK job takes over the memory (KeepWarm=), and the file with it. 0 or -1. */
int away_list_hand_on(uint32_t from, uint32_t to, struct ms_error *err);

/* Pages of a process that were next to each other, and the node that they left. */
struct away_line {
	unsigned node;
	pid_t pid;
	uint64_t started;
	struct migrate_range range;
};

struct away_lines {
	struct away_line *all; /* sorted by node, process and address; free() */
	size_t n;
};

/* The LWK jobs that have such a file; free() *jobs. Their number, or -1. */
ssize_t away_list_jobs(uint32_t **jobs, struct ms_error *err);
/* Reads the file into *lines, empty before. 0 or -1; free lines->all in either case. */
int away_list_read(uint32_t lwk_job, struct away_lines *lines, struct ms_error *err);
/* Removes the file, and logs when that fails. */
void away_list_remove(uint32_t lwk_job);

#endif
