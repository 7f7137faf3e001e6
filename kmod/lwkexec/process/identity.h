/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that set user and group IDs and capabilities, personality(2) and prctl(2). */
#ifndef LWKEXEC_IDENTITY_H
#define LWKEXEC_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/shared/channel.h"

/* True when identity_call() carries out the call with this number. */
bool identity_has(uint64_t nr);
/*
 * Makes a call that sets the identity and changes nothing. Every other one fails with -EPERM, even
 * for root: the proxy must stay the instance's owner. prctl(2) and personality(2) fail with -EINVAL
 * for what would change how the proxy works.
 */
int64_t identity_call(const struct lwk_packet *request);

#endif
