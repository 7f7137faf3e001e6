/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that the module carries out for a proxy, in the proxy's context. */
#ifndef LWKPART_CALLS_H
#define LWKPART_CALLS_H

#include "abi/device/serve.h"
#include "process/thread/thread.h"

/* Finds Linux's functions. */
void calls_init(void);
/*
 * Carries out the call of the first packet. False when the proxy has something to do: the
 * packet is its own, or serve->has_reply is set.
 */
bool call_here(struct lwk_thread *thread, struct lwk_serve *serve);

#endif
