/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The progress of a migration, and its summary at the end. */
#ifndef LWKCTL_MIGRATE_SUMMARY_H
#define LWKCTL_MIGRATE_SUMMARY_H

#include "modeswitch/migrate.h"

/* Writes a line on standard error over the line before; 'context' is not used. */
void print_progress(const struct ms_migrate_state *state, void *context);

/*
 * Print on standard output. 'stop_seconds' is the time from the signal that stopped the migration
 * until all work had ended, or 0.
 */
void print_summary(const struct ms_migrate_request *request, const struct ms_migrate_state *state,
		   double stop_seconds);
void print_summary_json(const struct ms_migrate_request *request,
			const struct ms_migrate_state *state, double stop_seconds,
			const char *error);

#endif
