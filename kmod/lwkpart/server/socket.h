/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends and receives on a socket for a task that waits in the kernel meanwhile, without waiting. */
#ifndef LWKPART_SOCKET_H
#define LWKPART_SOCKET_H

#include "server/transfer.h"

/* May socket_run() try it, or a read(2) or write(2) that does not wait? 'flags' as for send(2), recv(2). */
bool socket_suits(const struct transfer *transfer, unsigned int flags);
/* send(2) or recv(2): the call's result, or NOT_DONE. The transfer suits. */
ssize_t socket_run(const struct transfer *transfer, const struct kvec *memory, unsigned int pieces,
		   size_t size, unsigned int flags);
/* Is the result of a try that of the task's own call? 'nonblock': that call does not wait, either. */
bool socket_is_certain(ssize_t result, bool nonblock);

#endif
