/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migrations that the library makes itself: memory that a switch vacates, and pages that it
 * brings back. ms_migrate() in modeswitch/migrate.h is for everybody.
 */
#ifndef MIGRATE_H
#define MIGRATE_H

#include <stddef.h>

#include "migrate/base/range.h"
#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

struct migration;

/* Physical memory to be vacated. */
struct migrate_vacating {
	const struct migrate_range *ranges; /* by address */
	size_t n;			    /* 1 or more */
	/* Sees the pages before they move; -1 ends the migration, and none moves. */
	int (*found)(const struct migration *migration, void *context, struct ms_error *err);
	void *context;
};

/*
 * Moves the pages that any process has on the nodes 'from' in these ranges to the nodes 'to', by
 * address, within the limits of 'request'; its targets and its method are not used. cpusets stay
 * as they are. A child process does it, and calls the functions of 'request' and 'vacating'; it has none of
 * our files. A process whose memory map is locked is left out. 0 or -1, with *state as for ms_migrate();
 * -ETIMEDOUT when a process has kept the child waiting for patience_ms: the child was killed, and *state has
 * what it moved before. Root, with lwkpart.ko loaded.
 */
int migrate_vacate(const struct ms_migrate_request *request,
		   const struct migrate_vacating *vacating, unsigned patience_ms,
		   struct ms_migrate_state *state, struct ms_error *err);

/*
 * Moves these pages only, and skips processes that have ended; else as migrate_vacate(), but with
 * the method of 'request', and -EBUSY when all has moved but the pages of processes whose memory maps are
 * locked. Root.
 */
int migrate_selected(const struct ms_migrate_request *request,
		     const struct migrate_selection *selections, size_t n, unsigned patience_ms,
		     struct ms_migrate_state *state, struct ms_error *err);

#endif
