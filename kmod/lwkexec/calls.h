/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of the LWK: delegated system calls, which Linux carries out with the LWK process's own
 * arguments unless they are about the process itself, and the LWK_CALL_* of abi/lwkshared.h.
 */
#ifndef LWKEXEC_CALLS_H
#define LWKEXEC_CALLS_H

#include <stdint.h>

#include "abi/shared/channel.h"

/* Returns the result or a negative errno. */
int64_t calls_execute(const struct lwk_packet *request);

#endif
