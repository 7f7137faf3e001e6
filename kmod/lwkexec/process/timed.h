/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that wait until a time has passed. */
#ifndef LWKEXEC_TIMED_H
#define LWKEXEC_TIMED_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/shared/channel.h"

/* True for a call that may have a time to wait at most, which begins with the call. */
bool timed_has(uint64_t nr);
/*
 * Makes the call. 'again': a signal that does not count has just ended the same call of this
 * thread, which has the rest of its time.
 */
int64_t timed_call(const struct lwk_packet *request, bool again);

#endif
