/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells which system calls of Linux a signal interrupts. */
#ifndef LWKEXEC_MAY_WAIT_H
#define LWKEXEC_MAY_WAIT_H

#include <stdbool.h>

#include "abi/shared/channel.h"

/*
 * True when Linux may let the call wait for something that may never come, and a signal ends that
 * wait; EINTR is a result of such calls only. An answer about a file of another type than programs
 * wait for, or about a call that would fail, is false.
 */
bool may_wait(const struct lwk_packet *request);

#endif
