/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of the program's address space (RLIMIT_AS), which the LWK enforces. The proxy itself
 * has none as long as Linux lets it: its window alone is larger than any.
 */
#ifndef LWKEXEC_LIMITS_H
#define LWKEXEC_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "abi/shared/channel.h"

/* Takes over the limit that the proxy was started with, before there is a session. */
void limits_take(void);
/* Goes on with a limit of the program before this one. */
void limits_resume(const struct rlimit *limit);
struct rlimit limits_now(void);
/* Tells the LWK of the limit when there is a session, also a forked child's. */
void limits_apply(void);
/* True when the call is about the limit of this process. */
bool limits_has(const struct lwk_packet *request);
/* Carries it out. The result is that of Linux. */
int64_t limits_call(const struct lwk_packet *request);

#endif
