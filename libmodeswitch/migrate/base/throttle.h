/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a migration within its limits of CPU time and bandwidth: after some work it sleeps until
 * the limits allow the work done in the time passed.
 */
#ifndef THROTTLE_H
#define THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/migrate.h"

struct migration;
struct throttle;

/* Begins to count; 'request' has the limits. */
void throttle_init(struct throttle *throttle, const struct ms_migrate_request *request);
/*
 * Sleeps 'ms' milliseconds, or longer until the limits allow the CPU time and the 'bytes' used
 * since the last call. False when the migration was stopped meanwhile.
 */
bool throttle_wait(struct migration *migration, uint64_t bytes, unsigned ms);
/* Lowers the share of CPU time while programs wait for CPUs, and raises it again after that. */
void throttle_heed_pressure(struct throttle *throttle);

#endif
