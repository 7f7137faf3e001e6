/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks what a migration is asked for, and chooses what the request leaves open.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

struct migration;

/* The shortest window of use, in milliseconds. */
#define MIN_USE_WINDOW_MS 4U

/* 0, or -1 when the request cannot be carried out; changes nothing. */
int request_check(const struct migration *migration, struct ms_error *err);
/* Fills in 'request', and what follows from it for 'migration'. 0 or -1. */
int request_choose_settings(struct migration *migration, struct ms_migrate_request *request,
			    struct ms_error *err);
/* Milliseconds in which use of pages shows, before the first page moves. */
unsigned request_use_window_ms(const struct ms_migrate_request *request);

#endif
