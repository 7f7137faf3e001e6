// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mpi/count.h"
#include "mpi/library/library.h"
#include "mpi/program.h"
#include "mpi/sites/sites.h"

#define TAG 2 /* of the communicator that only session_end() uses */

static size_t size;
static int fd = -1;

void call_find(struct call *call, int name)
{
	call->next[name] = library_next(call->names[name]);
	if (call->next[name])
		return;
	fprintf(stderr,
		"lwk: %s: expected an MPI library that has it, found none among the program's "
		"libraries; run without --mpi-profile\n",
		call->names[name]);
	abort();
}

/*
 * A page file below $LWK_MPI_PAGES outlives the rank; without it the memory is the process's own.
 */
static struct page *map(uint32_t rank)
{
	const char *directory = getenv("LWK_MPI_PAGES");
	char path[512];
	void *page;
	int error;

	if (directory) {
		snprintf(path, sizeof(path), "%s/%u-%d", directory, rank, getpid());
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		/* Room that is missing later would end the program with SIGBUS. */
		error = fd < 0 ? errno : posix_fallocate(fd, 0, size);
		if (fd >= 0 && error) {
			unlink(path);
			close(fd);
			fd = -1;
		}
		if (fd < 0)
			fprintf(stderr,
				"lwk: rank %u: %s: %s; its profile is lost if it does not reach "
				"MPI_Finalize\n",
				rank, path, strerror(error));
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? NULL : page;
}

static void read_clocks(uint64_t *ticks, uint64_t *ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	*ticks = call_ticks();
	*ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void begin_profile(bool threads)
{
	struct page *page;
	int rank, ranks;
	ssize_t length;

	if (!getenv("LWK_MPI_PROFILE") || count_page ||
	    LIBRARY_CALL(COMM_RANK, library.world, &rank) != 0 ||
	    LIBRARY_CALL(COMM_SIZE, library.world, &ranks) != 0 || ranks > PAGE_RANKS_MAX)
		return;
	size = page_size(ranks);
	page = map(rank);
	if (!page)
		return;
	page->rank = rank;
	page->ranks = ranks;
	gethostname(page->host, sizeof(page->host) - 1);
	length = readlink("/proc/self/exe", page->program, sizeof(page->program) - 1);
	page->program[length > 0 ? length : 0] = '\0';
	page->program_hash = program_hash();
	read_clocks(&page->first_ticks, &page->first_ns);
	page->last_ticks = page->first_ticks;
	page->last_ns = page->first_ns;
	page->magic = PAGE_MAGIC;
	count_threads = threads;
	count_page = page;
}

/* A program that others have spawned has ranks and a profile of its own. */
static bool is_spawned(void)
{
	uint64_t parent = library.no_communicator;

	return LIBRARY_CALL(COMM_GET_PARENT, &parent) == 0 &&
	       library_handle(parent) != library.no_communicator;
}

/* Rank 0 tells when the step was placed by the profile of another program, "RANKS:HASH". */
static void check_placement(void)
{
	const char *placed = getenv("LWK_MPI_PLACED");
	int rank, ranks, expected;
	uint64_t hash;

	if (!placed || sscanf(placed, "%d:%" SCNx64, &expected, &hash) != 2 || is_spawned() ||
	    LIBRARY_CALL(COMM_RANK, library.world, &rank) != 0 || rank ||
	    LIBRARY_CALL(COMM_SIZE, library.world, &ranks) != 0)
		return;
	if (ranks != expected)
		fprintf(stderr,
			"lwk: --mpi-place: expected the profile of %d ranks, found that of %d; "
			"the ranks' nodes may be bad ones\n",
			ranks, expected);
	else if (hash && hash != program_hash())
		fputs("lwk: --mpi-place: expected the profile of this program, found that of "
		      "another one, or of another build of it; the ranks' nodes may be bad ones\n",
		      stderr);
}

static void begin(bool threads)
{
	if (!library_find())
		return;
	check_placement();
	begin_profile(threads);
	sites_begin(threads);
	if (sites_enabled)
		call_with_sites();
}

void session_begin(struct call *call, const uint64_t *a, uint64_t ticks)
{
	begin(false);
}

void session_begin_threads(struct call *call, const uint64_t *a, uint64_t ticks)
{
	int multiple = 3; /* MPI_THREAD_MULTIPLE, in both libraries */

	begin(a[4] && *(int *)a[4] == multiple);
}

/* Chooses the file's path, which differs for each program that the step's programs spawn. */
static void choose_path(char *path, size_t room)
{
	const char *given = getenv("LWK_MPI_PROFILE");
	char word[sizeof(count_page->host) + 32];

	snprintf(path, room, "%s", given);
	if (!is_spawned())
		return;
	snprintf(word, sizeof(word), "spawned-%s-%d", count_page->host, getpid());
	page_part_path(given, word, path, room);
}

/* Creates the file beside its later place, which gets it whole or not at all. */
static FILE *create(const char *path, char *temporary, size_t room)
{
	int file;

	snprintf(temporary, room, "%s.%d", path, getpid());
	file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return file < 0 ? NULL : fdopen(file, "w");
}

static const char *text_of(const char *name)
{
	const char *text = getenv(name);

	return text ? text : "";
}

/* Rank 0: writes the ranks' objects, its own and those that it receives. */
static bool write_file(const char *path, uint64_t communicator, int ranks, const int *lengths,
		       const char *own)
{
	char temporary[PATH_MAX + 32];
	FILE *out = create(path, temporary, sizeof(temporary));
	bool written;

	if (out)
		fprintf(out, "{\"version\":1,\"job\":\"%s\",\"ranks\":%d,\"parts\":[\n%s",
			text_of("LWK_MPI_JOB"), ranks, own);
	for (int rank = 1; rank < ranks; rank++) {
		char *text = malloc(lengths[rank] + 1);

		/* The other ranks wait until their text is taken. */
		if (!text || LIBRARY_CALL(RECV, text, lengths[rank], library.byte, rank, TAG,
					  communicator, library.ignore_status) != 0)
			return false;
		if (out)
			fprintf(out, ",\n%.*s", lengths[rank], text);
		free(text);
	}
	if (!out)
		return false;
	fputs("\n]}\n", out);
	written = !ferror(out) && fflush(out) == 0;
	written = fclose(out) == 0 && written && rename(temporary, path) == 0;
	if (!written)
		unlink(temporary);
	return written;
}

static void collect(const char *own, int length)
{
	struct page *page = count_page;
	uint64_t communicator = 0;
	int *lengths = page->rank ? NULL : calloc(page->ranks, sizeof(int));
	char path[PATH_MAX];

	choose_path(path, sizeof(path));
	if (LIBRARY_CALL(COMM_DUP, library.world, &communicator) != 0)
		return;
	LIBRARY_CALL(GATHER, &length, 1, library.integer, lengths, 1, library.integer, 0,
		     communicator);
	if (page->rank)
		LIBRARY_CALL(SEND, own, length, library.byte, 0, TAG, communicator);
	else if (!lengths || !write_file(path, communicator, page->ranks, lengths, own))
		fprintf(stderr, "lwk: the profile of MPI cannot be written: %s: %s\n", path,
			strerror(errno));
	free(lengths);
	LIBRARY_CALL(COMM_FREE, &communicator);
}

void session_end(const struct call *call, const uint64_t *a)
{
	struct page *page = count_page;
	struct page_sums sums = { 0 };
	char *text = NULL;
	size_t length;
	FILE *out;

	if (!page)
		return;
	read_clocks(&page->last_ticks, &page->last_ns);
	out = open_memstream(&text, &length);
	if (out) {
		page_print(page, size, out);
		fclose(out);
		collect(text, length);
		free(text);
	}
	/* A file with sums only says that the rank came to its end. */
	page_sum(page, size, &sums);
	count_page = NULL;
	munmap(page, size);
	if (fd >= 0) {
		if (ftruncate(fd, sizeof(sums)) < 0 ||
		    pwrite(fd, &sums, sizeof(sums), 0) != sizeof(sums))
			fprintf(stderr, "lwk: the page of an MPI rank: %m\n");
		close(fd);
		fd = -1;
	}
}

void session_forget(const struct call *call, const uint64_t *a)
{
	count_free(call, a);
	sites_forget(library_handle_at(a[1]));
}
