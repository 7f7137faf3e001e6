// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The user chose the arguments. If one is wrong, the task makes the call itself and gets the error.
 */
#include "process/calls/requests.h"

#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <asm/unistd.h>

#include "compat/compat.h"
#include "process/memory/view.h"
#include "server/poll.h"

/* Larger transfers would keep the other clients waiting; the proxy makes them. */
#define MOST_BYTES (4UL << 20)
#define MOST_PIECES 32
/* Elements of an array in the program's memory. */
#define MOST_ELEMENTS 32

/* Memory of the LWK process that a call names. */
struct memory {
	unsigned int n;
	size_t size;
	struct kvec pieces[MOST_PIECES];
};

static void clear(struct memory *memory)
{
	memory->n = 0;
	memory->size = 0;
}

/* Adds a piece; the elements of a vector often follow one another. */
static bool add_piece(struct memory *memory, void *at, size_t size)
{
	struct kvec *end = &memory->pieces[memory->n];

	if (memory->n && end[-1].iov_base + end[-1].iov_len == at) {
		end[-1].iov_len += size;
		return true;
	}
	if (memory->n == MOST_PIECES)
		return false;
	*end = (struct kvec){ at, size };
	memory->n++;
	return true;
}

/* Adds [address, address + size). False: it is not there, or too much. */
static bool take_memory(struct lwk_thread *thread, struct memory *memory, u64 address, u64 size,
			bool write)
{
	unsigned int n;
	void *known;

	if (size > MOST_BYTES - memory->size)
		return false;
	if (!size)
		return true;
	memory->size += size;
	known = view_known(thread, address, size, write);
	if (known)
		return add_piece(memory, known, size);
	n = view_map(thread, address, size, write, memory->pieces + memory->n,
		     MOST_PIECES - memory->n);
	memory->n += n;
	return n;
}

/* False: the machine has lost a part of the memory. Then the task gets the signal, not Linux. */
static bool copy_from(const struct memory *memory, void *to)
{
	unsigned int i;

	for (i = 0; i < memory->n; to += memory->pieces[i++].iov_len)
		if (copy_mc_to_kernel(to, memory->pieces[i].iov_base, memory->pieces[i].iov_len))
			return false;
	return true;
}

static bool read_memory(struct lwk_thread *thread, u64 address, void *to, size_t size)
{
	struct memory memory COMPAT_NOT_CLEARED;

	clear(&memory);
	return take_memory(thread, &memory, address, size, false) && copy_from(&memory, to);
}

static u8 *byte_at(const struct memory *memory, size_t offset)
{
	unsigned int i;

	for (i = 0; offset >= memory->pieces[i].iov_len; i++)
		offset -= memory->pieces[i].iov_len;
	return (u8 *)memory->pieces[i].iov_base + offset;
}

/* Finds what a vector of readv(2) or writev(2) names. */
static bool take_vector(struct lwk_thread *thread, struct memory *memory, u64 address, u64 count,
			bool write)
{
	struct iovec vector[MOST_ELEMENTS] COMPAT_NOT_CLEARED;
	unsigned int i;

	if (!count || count > MOST_ELEMENTS ||
	    !read_memory(thread, address, vector, count * sizeof(*vector)))
		return false;
	for (i = 0; i < count; i++)
		if (!take_memory(thread, memory, (__force u64)vector[i].iov_base, vector[i].iov_len,
				 write))
			return false;
	return true;
}

/* False: the call does not transfer bytes, or in a way that only the task can. */
static bool read_request(const struct lwk_packet *packet, bool *vector, struct transfer *transfer)
{
	const u64 *args = packet->args;

	transfer->write = transfer->has_position = *vector = false;
	transfer->position = 0;
	switch (packet->nr) {
	case __NR_write:
	case __NR_pwrite64:
	case __NR_writev:
	case __NR_pwritev:
	case __NR_pwritev2:
		transfer->write = true;
	}
	switch (packet->nr) {
	case __NR_read:
	case __NR_write:
		return true;
	case __NR_pread64:
	case __NR_pwrite64:
		transfer->has_position = true;
		break;
	case __NR_readv:
	case __NR_writev:
		*vector = true;
		return true;
	case __NR_preadv:
	case __NR_pwritev:
		*vector = transfer->has_position = true;
		break;
	case __NR_preadv2:
	case __NR_pwritev2:
		*vector = true;
		transfer->has_position = args[3] != (u64)-1;
		if (args[5])
			return false;
		break;
	default:
		return false;
	}
	if (transfer->has_position)
		transfer->position = args[3];
	return transfer->position >= 0;
}

/* Transfers bytes between the file and what a call names. */
static s64 move_pieces(struct lwk_thread *thread, struct transfer *transfer, bool vector,
		       const u64 *args)
{
	struct memory memory COMPAT_NOT_CLEARED;

	clear(&memory);
	if (!(vector ? take_vector(thread, &memory, args[1], args[2], !transfer->write)
		     : take_memory(thread, &memory, args[1], args[2], !transfer->write)) ||
	    !memory.size)
		return NOT_DONE;
	return transfer_run(transfer, memory.pieces, memory.n, memory.size);
}

/*
 * Moves a transfer, quickly when it names the page of the last one, as those of most programs do.
 */
static s64 move(struct lwk_thread *thread, struct transfer *transfer, bool vector, const u64 *args)
{
	struct kvec *piece = &transfer->piece;

	piece->iov_len = args[2];
	piece->iov_base =
		!vector && args[2] ? view_known(thread, args[1], args[2], !transfer->write) : NULL;
	return piece->iov_base ? transfer_run(transfer, piece, 1, piece->iov_len)
			       : move_pieces(thread, transfer, vector, args);
}

/* write(2) of a number to a file of eventfd(2). */
static s64 make_signal(struct lwk_thread *thread, struct transfer *transfer, const u64 *args)
{
	u64 number;

	return args[2] == sizeof(number) && read_memory(thread, args[1], &number, sizeof(number))
		       ? transfer_signal(transfer, number)
		       : NOT_DONE;
}

static s64 make_transfer(struct lwk_thread *thread, struct transfer *transfer,
			 const struct lwk_packet *packet)
{
	s64 result = NOT_DONE;
	bool vector;

	if (!read_request(packet, &vector, transfer) || !transfer_begin(transfer, packet->args[0]))
		return NOT_DONE;
	if (packet->nr == __NR_write && is_eventfd(transfer->file))
		result = make_signal(thread, transfer, packet->args);
	else if (transfer_suits(transfer))
		result = move(thread, transfer, vector, packet->args);
	transfer_end(transfer);
	return result;
}

static s64 make_seek(struct transfer *transfer, const u64 *args)
{
	loff_t result;

	if (!transfer_begin(transfer, args[0]))
		return NOT_DONE;
	result = transfer_seek(transfer, args[1], args[2]);
	transfer_end(transfer);
	return result;
}

/* 'at_once': the call does not wait when nothing is ready. */
static s64 make_poll(struct lwk_thread *thread, struct transfer *transfer, const u64 *args,
		     bool at_once)
{
	struct pollfd elements[MOST_ELEMENTS] COMPAT_NOT_CLEARED;
	struct memory memory COMPAT_NOT_CLEARED;
	unsigned int i, count = args[1];
	size_t revents = offsetof(struct pollfd, revents);
	s64 ready = 0;

	clear(&memory);
	if (!count || args[1] > MOST_ELEMENTS ||
	    count > task_rlimit(transfer->task, RLIMIT_NOFILE) ||
	    !take_memory(thread, &memory, args[0], count * sizeof(*elements), true) ||
	    !copy_from(&memory, elements))
		return NOT_DONE;
	for (i = 0; i < count; i++) {
		if (!poll_look(transfer, &elements[i]))
			return NOT_DONE;
		ready += elements[i].revents != 0;
	}
	if (!ready && !at_once)
		return NOT_DONE;
	/* The rest of each element may be another thread's. */
	for (i = 0; i < count; i++, revents += sizeof(*elements)) {
		*byte_at(&memory, revents) = elements[i].revents;
		*byte_at(&memory, revents + 1) = elements[i].revents >> 8;
	}
	return ready;
}

s64 request_make(struct lwk_thread *thread, struct transfer *transfer,
		 const struct lwk_packet *packet)
{
	const struct lwk_process *process = thread->process;

	if (packet->kind != LWK_PACKET_REQUEST ||
	    READ_ONCE(process->instance->threads[process->first.slot]) != &process->first ||
	    process->hidden)
		return NOT_DONE;
	switch (packet->nr) {
	case __NR_lseek:
		return make_seek(transfer, packet->args);
	case __NR_poll:
		return make_poll(thread, transfer, packet->args, (int)packet->args[2] == 0);
	default:
		return make_transfer(thread, transfer, packet);
	}
}
