/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/direct.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/linux_call.h"

/* A longer transfer is done in part, as Linux may do it. */
#define MOST_BYTES (32UL << 20)

/* The end of addresses of programs with page tables of four levels. */
#define PROGRAM_END (1UL << 47)

/* A call, and the same as preadv2(2) or pwritev2(2). */
struct transfer {
	bool writes, has_vectors;
	uint64_t position; /* -1: the file's */
	uint64_t flags;
};

static bool describe(const struct lwk_packet *request, struct transfer *transfer)
{
	*transfer = (struct transfer){ .position = -1 };
	switch (request->nr) {
	case SYS_pwritev2:
	case SYS_preadv2:
		transfer->flags = request->args[5];
		/* fall through */
	case SYS_pwritev:
	case SYS_preadv:
		transfer->position = request->args[3];
		/* fall through */
	case SYS_writev:
	case SYS_readv:
		transfer->has_vectors = true;
		break;
	case SYS_pwrite64:
	case SYS_pread64:
		transfer->position = request->args[3];
		break;
	case SYS_write:
	case SYS_read:
		break;
	default:
		return false;
	}
	transfer->writes = request->nr == SYS_write || request->nr == SYS_writev ||
			   request->nr == SYS_pwrite64 || request->nr == SYS_pwritev ||
			   request->nr == SYS_pwritev2;
	return true;
}

bool direct_has(uint64_t nr)
{
	const struct lwk_packet request = { .nr = nr };
	struct transfer transfer;

	return describe(&request, &transfer);
}

/*
 * True when Linux may hand over the caller's pages instead of copying. It does so to devices, and
 * to the program behind a file of FUSE that has asked for it (FOPEN_DIRECT_IO), which nobody else
 * can see.
 */
static bool may_be_direct(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 && (S_ISREG(file.st_mode) || S_ISBLK(file.st_mode));
}

/* Fills in the program's pieces. Returns how many, or -1. */
static int find_pieces(const struct lwk_packet *request, const struct transfer *transfer,
		       struct iovec pieces[IOV_MAX])
{
	uint64_t n = request->args[2];

	if (!transfer->has_vectors) {
		/* Linux checks all of it; of a vector with one element only what it would transfer. */
		if (request->args[1] > PROGRAM_END || n > PROGRAM_END - request->args[1])
			return -1;
		pieces[0] = (struct iovec){ (void *)request->args[1], n };
		return 1;
	}
	if (n > IOV_MAX ||
	    copy_in(pieces, request->args[1], n * sizeof(*pieces)) != n * sizeof(*pieces))
		return -1;
	return n;
}

static size_t total(const struct iovec *pieces, int n)
{
	size_t size = 0;

	for (int i = 0; i < n && size < MOST_BYTES; i++)
		size += pieces[i].iov_len < MOST_BYTES ? pieces[i].iov_len : MOST_BYTES;
	return size < MOST_BYTES ? size : MOST_BYTES;
}

/*
 * These copy between 'bounce' and the program's memory; Linux checks the addresses. It looks the
 * pages of the "other process" up as a device does, so that this must be the side of 'bounce'.
 */
static bool copy_to_program(const struct iovec *pieces, int n, void *bounce, size_t size)
{
	struct iovec from = { bounce, size };

	return process_vm_readv(getpid(), pieces, n, &from, 1, 0) == (ssize_t)size;
}

static bool copy_from_program(const struct iovec *pieces, int n, void *bounce, size_t size)
{
	struct iovec to = { bounce, size };

	return process_vm_writev(getpid(), pieces, n, &to, 1, 0) == (ssize_t)size;
}

static int64_t call_with(const struct lwk_packet *request, const struct transfer *transfer,
			 struct iovec *buffer)
{
	struct lwk_packet moved = {
		.nr = transfer->writes ? SYS_pwritev2 : SYS_preadv2,
		.args = { request->args[0], (uintptr_t)buffer, 1, transfer->position, 0,
			  transfer->flags },
	};

	return linux_call(&moved);
}

/* The byte that comes back to its place shows that it may be written to. */
static bool program_has(const struct iovec *pieces, int n, bool to_write)
{
	char first;

	return copy_from_program(pieces, n, &first, 1) &&
	       (!to_write || copy_to_program(pieces, n, &first, 1));
}

static int64_t bounce_call(const struct lwk_packet *request, const struct transfer *transfer,
			   const struct iovec *pieces, int n)
{
	struct iovec buffer = { .iov_len = total(pieces, n) };
	int64_t result = -EFAULT;

	/* The file must not be read where no memory is: that would move its position. */
	if (!buffer.iov_len || !program_has(pieces, n, !transfer->writes))
		return -EFAULT;
	buffer.iov_base = mmap(NULL, buffer.iov_len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer.iov_base == MAP_FAILED)
		return -ENOMEM;
	if (!transfer->writes || copy_from_program(pieces, n, buffer.iov_base, buffer.iov_len))
		result = call_with(request, transfer, &buffer);
	if (!transfer->writes && result > 0 && !copy_to_program(pieces, n, buffer.iov_base, result))
		result = -EFAULT;
	munmap(buffer.iov_base, buffer.iov_len);
	return result;
}

int64_t direct_call(const struct lwk_packet *request)
{
	int64_t result = linux_call(request);
	struct iovec pieces[IOV_MAX];
	struct transfer transfer;
	int n;

	if (result != -EFAULT || !describe(request, &transfer) || !may_be_direct(request->args[0]))
		return result;
	n = find_pieces(request, &transfer, pieces);
	return n > 0 ? bounce_call(request, &transfer, pieces, n) : -EFAULT;
}
