/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page files that the ranks of a step have on this node. */
#ifndef LWKCTL_MPI_SAVE_H
#define LWKCTL_MPI_SAVE_H

#include <stdbool.h>
#include <stdio.h>

#include "modeswitch/error.h"

struct pages {
	int ended;   /* ranks that came to MPI_Finalize: their page is empty */
	int printed; /* ranks whose page was printed */
	int others;  /* files that hold no page */
};

/*
 * Prints the pages in the directory as a profile, which is none when no page was printed. 'job' is
 * the name that the profile gets. 0 or -1.
 */
int pages_print(const char *directory, const char *job, FILE *out, struct pages *pages,
		struct ms_error *err);

/*
 * Saves the pages in the directory as a part of the profile 'path', in a file that has this node's
 * name in its own, and removes them. Prints what the user must know, one line; with 'quiet' not that
 * there was no page at all. 'as' is NULL, or "UID:GID", whose rights the process takes on first, for
 * good: the pages are theirs. 0 or -1.
 */
int pages_save(const char *directory, const char *path, const char *as, bool quiet,
	       struct ms_error *err);

#endif
