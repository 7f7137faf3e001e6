/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks whether files are ready, for a task that waits in the kernel meanwhile. */
#ifndef LWKPART_POLL_H
#define LWKPART_POLL_H

#include <linux/poll.h>

#include "server/transfer.h"

/*
 * Looks at one element of poll(2) and sets its revents. False: the file is not open, or the task
 * must make the call itself.
 */
bool poll_look(struct transfer *transfer, struct pollfd *element);

#endif
