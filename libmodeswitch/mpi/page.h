/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page file of an MPI rank: liblwkmpi.so counts into it while the program runs, and whoever
 * reads it afterwards must check every number, because the program's user can write to it.
 */
#ifndef MPI_PAGE_H
#define MPI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PAGE_MAGIC 0x34696d6b776cULL
#define PAGE_CALLS 512
#define PAGE_GROUPS 1024
#define PAGE_MEMBERS 65536
#define PAGE_COLLECTIVES 4096 /* a power of two */
#define PAGE_RANKS_MAX 1048576

/* Messages of 0 bytes, up to 64, 512, 4K, 32K, 256K, 2M, and larger ones. */
#define PAGE_CLASSES 8

/* The calls of a function, and the ticks in it. */
struct page_call {
	char name[32];
	uint64_t n, ticks;
};

/* The ranks of a communicator: first, first + stride and so on; or, when stride is 0, a list. */
struct page_group {
	uint64_t id; /* of the ranks and their order: the same in each rank */
	uint32_t size, first, stride;
	uint32_t
		members; /* the place of the list in struct page; PAGE_MEMBERS: there was no room */
};

struct page_collective {
	uint32_t call;	/* the place in 'calls' */
	uint32_t group; /* the place in 'groups'; PAGE_GROUPS: unknown */
	uint32_t class;
	uint32_t used;
	uint64_t n, bytes, ticks;
};

struct page_peer {
	uint64_t n, bytes, blocking;
};

/* Receives from a rank that came first after a send to it, or first of all (see turns.c). */
struct page_turns {
	uint64_t leads, follows; /* while this rank was the one of both that sends first, or not */
	uint64_t hidden; /* meetings of all ranks that this rank came to late, and left first */
	uint64_t stream_ticks; /* from the first message of a stream to its last one, all streams */
	/* The state between two calls, for the library only. */
	uint64_t received_ticks;
	uint32_t meeting;
	uint8_t last;
	uint8_t leading;
};

struct page {
	uint64_t magic;
	uint32_t rank, ranks;
	uint32_t n_calls, n_groups, n_members, n_collectives;
	/* Ticks of the time stamp counter, and nanoseconds of CLOCK_MONOTONIC at the same time. */
	uint64_t first_ticks, first_ns, last_ticks, last_ns;
	uint64_t mpi_ticks; /* in MPI, all functions */
	/* Messages of unknown size, and events for which the tables below had no room. */
	uint64_t unknown_sizes, lost;
	char host[64], program[256];
	uint64_t program_hash;
	struct page_call calls[PAGE_CALLS];
	struct page_group groups[PAGE_GROUPS];
	uint32_t members[PAGE_MEMBERS];
	struct page_collective collectives[PAGE_COLLECTIVES];
	/*
	 * Traffic that this rank sent to each rank and to unknown ones, then what it fetched from
	 * them. The turns with each rank and with unknown ones follow, page_turns().
	 */
	struct page_peer peers[][PAGE_CLASSES];
};

#define PAGE_SUMS_MAGIC 0x736d7573696d6b77ULL
#define PAGE_SUMS_MAX (1ULL << 53) /* larger sums are this one: JSON has no larger numbers */

/*
 * The sums of a rank's page, or of several. Those of a rank take the page's place in its file when
 * the rank comes to MPI_Finalize.
 */
struct page_sums {
	uint64_t magic;
	uint64_t ranks;
	uint64_t ns, mpi_ns;	       /* from MPI_Init to MPI_Finalize; in MPI */
	uint64_t messages, operations; /* operations: calls of collective ones */
	uint64_t bytes; /* of messages, and those that ranks gave to collective operations */
};

/* The size in bytes of the page of a rank among so many. */
static inline size_t page_size(uint32_t ranks)
{
	return sizeof(struct page) +
	       2 * ((size_t)ranks + 1) * PAGE_CLASSES * sizeof(struct page_peer) +
	       ((size_t)ranks + 1) * sizeof(struct page_turns);
}

/* The page's last part, an array: a row for each rank, and one for unknown ones. */
static inline struct page_turns *page_turns(const struct page *page)
{
	return (struct page_turns *)&page->peers[2 * ((size_t)page->ranks + 1)];
}

static inline unsigned page_class(uint64_t bytes)
{
	unsigned bits = bytes ? 64 - __builtin_clzll(bytes - !!(bytes > 1)) : 0;

	return bits == 0 ? 0 : bits <= 6 ? 1 : bits >= 22 ? PAGE_CLASSES - 1 : (bits + 2) / 3 - 1;
}

/* Writes "DIR/mpi-5.0.WORD.json" for "DIR/mpi-5.0.json": the path of a part of that profile. */
void page_part_path(const char *path, const char *word, char *part, size_t size);

/*
 * Writes the page as a JSON object. Numbers of a page that anybody may have written are checked:
 * false when 'size' bytes hold no page, and then nothing is written.
 */
bool page_print(const struct page *page, size_t size, FILE *out);

/* Adds up what is on the page. False when 'size' bytes hold no page. */
bool page_sum(const struct page *page, size_t size, struct page_sums *sums);
/* Adds 'more', of which nothing is trusted, to the sums. */
void page_sums_add(struct page_sums *sums, const struct page_sums *more);

#endif
