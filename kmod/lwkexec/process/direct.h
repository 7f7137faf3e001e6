/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers of files that are open with O_DIRECT. */
#ifndef LWKEXEC_DIRECT_H
#define LWKEXEC_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/shared/channel.h"

/* Is this a call that reads or writes a file? */
bool direct_has(uint64_t nr);
/*
 * Makes the call. Devices cannot reach the program's memory, which Linux has no pages of: if that
 * is why it fails, the data goes through memory of the proxy's. Linux's result or a negative errno.
 */
int64_t direct_call(const struct lwk_packet *request);

#endif
