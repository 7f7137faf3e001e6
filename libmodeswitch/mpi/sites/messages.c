// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/messages.h"

#include <stdlib.h>

#include "mpi/library/library.h"

#define TAG 4
/* Both libraries send messages of this size without waiting for the receiver, over TCP. */
#define PIECE 8192
/* A longer message has longer pieces, not more of them. */
#define PIECES_MAX 1024

struct messages messages_open(uint64_t communicator)
{
	return (struct messages){ .communicator = communicator };
}

static char *next_request(struct messages *messages)
{
	size_t each = library.mpich ? 4 : 8;

	if (messages->n == messages->room) {
		messages->room = messages->room ? 2 * messages->room : 64;
		messages->requests = realloc(messages->requests, messages->room * each);
		/* The other ranks wait for this one's messages. */
		if (!messages->requests)
			abort();
	}
	return messages->requests + messages->n * each;
}

static void pass(struct messages *messages, enum library_function function, uint64_t buffer,
		 int64_t n, uint64_t type, int64_t size, int peer)
{
	int64_t piece = n * size / PIECES_MAX > PIECE ? n * size / PIECES_MAX : PIECE;
	int64_t most = piece / size > 1 ? piece / size : 1;

	do {
		int64_t now = n < most ? n : most;
		int result = LIBRARY_CALL(function, buffer, now, type, peer, TAG,
					  messages->communicator, next_request(messages));

		if (result)
			messages->result = result;
		else
			messages->n++;
		buffer += now * size;
		n -= now;
	} while (n > 0);
}

void messages_receive(struct messages *messages, void *buffer, int64_t n, uint64_t type,
		      int64_t size, int peer)
{
	pass(messages, IRECV, (uint64_t)buffer, n, type, size, peer);
}

void messages_send(struct messages *messages, const void *buffer, int64_t n, uint64_t type,
		   int64_t size, int peer)
{
	pass(messages, ISEND, (uint64_t)buffer, n, type, size, peer);
}

int messages_close(struct messages *messages)
{
	int result = LIBRARY_CALL(WAITALL, messages->n, messages->requests, library.ignore_status);

	free(messages->requests);
	return messages->result ? messages->result : result;
}

void *messages_room(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory)
		abort();
	return memory;
}
