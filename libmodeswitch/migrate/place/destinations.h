/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes to move to: whether they have room for more pages.
 */
#ifndef DESTINATIONS_H
#define DESTINATIONS_H

#include <stdint.h>

#include "modeswitch/error.h"

struct migration;

/*
 * Takes nodes off the list that have no room for so many bytes; waits up to half a second for
 * Linux to make room. 0, or -1 when no node is left.
 */
int destinations_check_room(struct migration *migration, uint64_t bytes, struct ms_error *err);
/* Takes the fullest node off the list. 0, or -1 when no node is left. */
int destinations_drop_fullest(struct migration *migration, struct ms_error *err);

#endif
