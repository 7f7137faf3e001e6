/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that ask this process to end (SIGHUP, SIGINT, SIGTERM), held back while a half-done
 * change of the node is finished or undone.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Blocks these signals in the calling thread: from now on they wait to be delivered. */
void signals_hold(void);
/* Restores the signal mask from before signals_hold(); a signal that waits is delivered now. */
void signals_release(void);
/* True if one of these signals waits to be delivered; always false outside hold and release. */
bool signal_is_pending(void);

#endif
