/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delegated calls that a server makes. */
#ifndef LWKPART_REQUESTS_H
#define LWKPART_REQUESTS_H

#include "abi/shared/channel.h"
#include "process/thread/thread.h"
#include "server/transfer.h"

/*
 * Makes the call of a request of the thread's, for a task that waits, whose 'task' and 'files' the
 * transfer has, and as which the caller acts: the call's result, or NOT_DONE. With rwsem held, in a
 * state that has processes, and with the process's 'shown' held.
 */
s64 request_make(struct lwk_thread *thread, struct transfer *transfer,
		 const struct lwk_packet *packet);

#endif
