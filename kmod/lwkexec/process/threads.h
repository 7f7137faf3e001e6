/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of the proxy: one stands for each thread of the LWK process, so that a call that waits in
 * Linux holds up no other thread, and each thread has signals and a number of its own.
 */
#ifndef LWKEXEC_THREADS_H
#define LWKEXEC_THREADS_H

#include <stdint.h>

/*
 * LWK_CALL_THREAD: makes a thread that stands for a new one on the LWK, and waits until it has its
 * slot. Returns 0 or a negative errno.
 */
int64_t threads_add(void);

#endif
