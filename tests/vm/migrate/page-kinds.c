// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that has memory of every kind on NUMA node 0, to be migrated:
 *
 *	page-kinds FILE [huge]
 *
 * prints "ready PID", and whenever it gets a line it prints where the pages of each kind are,
 * "KIND NODE0-PAGES NODE1-PAGES OTHER-PAGES", and "end". FILE is one to map. With "huge" it
 * also has pages of hugetlbfs. It checks before each answer that its memory still holds
 * what it put there, and ends with status 1 if not.
 */
#include <errno.h>
#include <fcntl.h>
#include <numa.h>
#include <numaif.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define MB (1UL << 20)
#define MOST_PAGES 2048

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *map(size_t bytes, int flags, int fd)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	if (!(flags & MAP_HUGETLB))
		madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

static char *anonymous(size_t bytes)
{
	return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static char *make_plain(const char *file, size_t bytes)
{
	return anonymous(bytes);
}

static char *make_huge(const char *file, size_t bytes)
{
	char *memory = anonymous(bytes + 2 * MB);

	memory = (char *)(((uintptr_t)memory + 2 * MB - 1) & ~(2 * MB - 1));
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

static char *make_mlocked(const char *file, size_t bytes)
{
	char *memory = anonymous(bytes);

	if (mlock(memory, bytes) < 0)
		die("mlock");
	return memory;
}

static char *make_ksm(const char *file, size_t bytes)
{
	char *memory = anonymous(bytes);

	if (madvise(memory, bytes, MADV_MERGEABLE) < 0)
		die("madvise");
	return memory;
}

static char *make_file(const char *file, size_t bytes)
{
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, bytes) < 0)
		die(file);
	return map(bytes, MAP_SHARED, fd);
}

static char *make_shared(const char *file, size_t bytes)
{
	return map(bytes, MAP_SHARED | MAP_ANONYMOUS, -1);
}

static char *make_hugetlb(const char *file, size_t bytes)
{
	return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
}

/* The kernel holds the pages until a process reads the pipe. */
static void pin(char *memory, size_t bytes)
{
	struct iovec whole = { memory, bytes };
	int ends[2];

	if (pipe(ends) < 0 || vmsplice(ends[1], &whole, 1, 0) != (ssize_t)bytes)
		die("vmsplice");
}

static void close_to_all(char *memory, size_t bytes)
{
	if (mprotect(memory, bytes, PROT_NONE) < 0)
		die("mprotect");
}

/* A child has the pages, too, until this process ends. */
static void share(char *memory, size_t bytes)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		die("pipe");
	if (fork() == 0) {
		close(ends[1]);
		for (size_t at = 0; at < bytes; at += PAGE)
			*(volatile char *)(memory + at);
		_exit(read(ends[0], &byte, 1));
	}
	close(ends[0]);
}

static struct kind {
	const char *name;
	size_t bytes;
	char *(*make)(const char *file, size_t bytes);
	void (*finish)(char *memory, size_t bytes);
	bool same; /* every page has the same content */
	char *memory;
} kinds[] = {
	{ "plain", 4 * MB, make_plain, NULL, false, NULL },
	{ "huge", 8 * MB, make_huge, NULL, false, NULL },
	{ "mlocked", MB, make_mlocked, NULL, false, NULL },
	{ "ksm", MB, make_ksm, NULL, true, NULL },
	{ "file", MB, make_file, NULL, false, NULL },
	{ "closed", MB, make_plain, close_to_all, false, NULL },
	{ "pinned", 8 * PAGE, make_plain, pin, false, NULL },
	{ "shared", MB, make_shared, share, false, NULL },
	{ "hugetlb", 4 * MB, make_hugetlb, NULL, false, NULL },
};
#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

static uint64_t content(const struct kind *kind, size_t at)
{
	return kind->same ? 42 : at * 2654435761UL + kind->bytes;
}

static void check(const struct kind *kind)
{
	if (kind->finish == close_to_all)
		return;
	for (size_t at = 0; at < kind->bytes; at += PAGE) {
		if (*(uint64_t *)(kind->memory + at) == content(kind, at))
			continue;
		printf("%s: wrong content at %zu\n", kind->name, at);
		exit(1);
	}
}

static void tell(const struct kind *kind)
{
	void *addresses[MOST_PAGES];
	int status[MOST_PAGES], counts[3] = { 0 };
	size_t n = kind->bytes / PAGE;

	for (size_t i = 0; i < n; i++)
		addresses[i] = kind->memory + i * PAGE;
	if (move_pages(0, n, addresses, NULL, status, 0) < 0)
		die("move_pages");
	for (size_t i = 0; i < n; i++)
		counts[status[i] == 0 ? 0 : status[i] == 1 ? 1 : 2]++;
	printf("%s %d %d %d\n", kind->name, counts[0], counts[1], counts[2]);
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? N_KINDS : N_KINDS - 1;
	char line[64];

	if (argc < 2)
		return 2;
	numa_set_preferred(0);
	for (size_t i = 0; i < n; i++) {
		kinds[i].memory = kinds[i].make(argv[1], kinds[i].bytes);
		for (size_t at = 0; at < kinds[i].bytes; at += PAGE)
			*(uint64_t *)(kinds[i].memory + at) = content(&kinds[i], at);
	}
	for (size_t i = 0; i < n; i++) {
		if (kinds[i].finish)
			kinds[i].finish(kinds[i].memory, kinds[i].bytes);
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (size_t i = 0; i < n; i++)
			check(&kinds[i]);
		for (size_t i = 0; i < n; i++)
			tell(&kinds[i]);
		puts("end");
		fflush(stdout);
	}
	return 0;
}
