/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages that cross between sites, several at a time. MPI libraries send a long message after the
 * receiver has answered, which costs another round trip of the slow link; so these are sent in
 * pieces that are short enough to go at once.
 */
#ifndef MPI_MESSAGES_H
#define MPI_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct messages {
	uint64_t communicator;
	char *requests; /* as the library has them in arrays */
	int n, room, result;
};

struct messages messages_open(uint64_t communicator);
/*
 * Begins to receive or send 'n' elements of 'type', each of 'size' bytes without gaps. The peer
 * must call the other function with the same numbers.
 */
void messages_receive(struct messages *messages, void *buffer, int64_t n, uint64_t type,
		      int64_t size, int peer);
void messages_send(struct messages *messages, const void *buffer, int64_t n, uint64_t type,
		   int64_t size, int peer);
/* Waits for all; returns what MPI returns. */
int messages_close(struct messages *messages);

/*
 * Returns memory, to be freed with free(). Without memory the program ends, as it does by default
 * with MPI's own errors: the other ranks wait for this one, so it cannot return.
 */
void *messages_room(size_t bytes);

#endif
