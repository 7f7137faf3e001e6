/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers of files whose data Linux does not copy: O_DIRECT, FUSE's FOPEN_DIRECT_IO. */
#ifndef LWKEXEC_DIRECT_H
#define LWKEXEC_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/shared/channel.h"

/* True when the call with this number reads or writes a file. */
bool direct_has(uint64_t nr);
/*
 * Makes the call. Linux has no pages of the program's memory to hand over: if that is why the call
 * fails, the data goes through memory of the proxy's. Linux's result or a negative errno.
 */
int64_t direct_call(const struct lwk_packet *request);

#endif
