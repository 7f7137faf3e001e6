/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page files that the ranks of a step have on this node. */
#ifndef LWKCTL_MPI_SAVE_H
#define LWKCTL_MPI_SAVE_H

#include <stdbool.h>
#include <stdio.h>

#include "modeswitch/error.h"
#include "mpi/page.h"

struct pages {
	int ended;	       /* ranks that came to MPI_Finalize: their file has sums only */
	int printed;	       /* ranks whose page was printed */
	int others;	       /* files that hold neither */
	struct page_sums sums; /* of both kinds of ranks */
};

/*
 * Prints the pages in the directory as a profile, which is none when no page was printed. 'job' is
 * the name that the profile gets. 0 or -1.
 */
int pages_print(const char *directory, const char *job, FILE *out, struct pages *pages,
		struct ms_error *err);

/*
 * Saves the pages in the directory as a part of the profile 'path', in a file whose name has this
 * node's name in it, and removes them. Prints one line for the user; with 'quiet' none if there was
 * no page at all; with 'json' an object with the sums of all ranks, and that line as "message". 'as'
 * is NULL or "UID:GID", the pages' owners, whose rights the process takes on for good. 0; -1 with
 * err.
 */
struct saving {
	const char *as;
	bool quiet, json;
};
int pages_save(const char *directory, const char *path, const struct saving *saving,
	       struct ms_error *err);

#endif
