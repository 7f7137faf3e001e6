/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmsplice(2), as a copy: Linux has no pages of the program's memory that it could put into a pipe.
 */
#ifndef LWKEXEC_SPLICE_H
#define LWKEXEC_SPLICE_H

#include <stdint.h>

#include "abi/shared/channel.h"

/* Makes the call: Linux's result or a negative errno. */
int64_t splice_memory(const struct lwk_packet *request);

#endif
