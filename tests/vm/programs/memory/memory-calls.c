/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the promises of mmap(2) and its relatives, and EFAULT from delegated calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define MB (1UL << 20)
#define PAGE 4096UL

static char *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char mark(size_t offset)
{
	return offset / PAGE + 1;
}

/* New memory is zero; a hole in a large page leaves its neighbours alone. */
static int holes(void)
{
	char *memory = map(64 * MB);
	size_t hole = 3 * MB + PAGE;

	CHECK(memory != MAP_FAILED);
	for (size_t i = 0; i < 64 * MB; i += PAGE) {
		CHECK(memory[i] == 0);
		memory[i] = mark(i);
	}
	CHECK(munmap(memory + hole, 2 * PAGE) == 0);
	for (size_t i = 0; i < 64 * MB; i += PAGE)
		CHECK((i >= hole && i < hole + 2 * PAGE) || memory[i] == mark(i));
	CHECK(pipe((int *)(memory + hole)) == -1 && errno == EFAULT);
	CHECK(munmap(memory, 64 * MB) == 0);
	return 0;
}

/* Linux sees the same protection as the program, also after a change. */
static int protection(void)
{
	int zero = open("/dev/zero", O_RDONLY);
	char *memory = map(4 * MB);

	memset(memory, 1, 4 * MB);
	CHECK(read(zero, memory, PAGE) == (ssize_t)PAGE && memory[0] == 0);
	CHECK(mprotect(memory, MB, PROT_READ) == 0);
	CHECK(read(zero, memory, PAGE) == -1 && errno == EFAULT);
	CHECK(memory[MB - 1] == 1);
	CHECK(read(zero, memory + MB, MB) == (ssize_t)MB && memory[2 * MB - 1] == 0);
	CHECK(mprotect(memory, MB, PROT_NONE) == 0);
	CHECK(write(1, memory, 1) == -1 && errno == EFAULT);
	CHECK(mprotect(memory, MB, PROT_READ | PROT_WRITE) == 0);
	CHECK(memory[MB - 1] == 1 && read(zero, memory, PAGE) == (ssize_t)PAGE);
	CHECK(mprotect(memory + 3 * MB, 16 * MB, PROT_READ) == -1 && errno == ENOMEM);
	close(zero);
	return 0;
}

/* Pages that Linux has looked at move, go and come back as they should. */
static int moving(void)
{
	int zero = open("/dev/zero", O_RDONLY);
	char *memory = map(16 * MB), *moved;

	CHECK(read(zero, memory, 16 * MB) == (ssize_t)(16 * MB));
	for (size_t i = 0; i < 16 * MB; i += PAGE)
		memory[i] = mark(i);
	moved = mremap(memory + 8 * MB, 4 * MB, 32 * MB, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED);
	for (size_t i = 0; i < 4 * MB; i += PAGE)
		CHECK(moved[i] == mark(8 * MB + i));
	CHECK(moved[5 * MB] == 0);
	CHECK(memory[8 * MB - PAGE] == mark(8 * MB - PAGE));
	CHECK(madvise(moved, 2 * MB, MADV_DONTNEED) == 0);
	CHECK(moved[0] == 0 && moved[2 * MB] == mark(10 * MB));
	CHECK(mremap(moved, 32 * MB, MB, 0) == moved);
	close(zero);
	return 0;
}

static int files(void)
{
	char name[] = "memory-XXXXXX", text[] = "in a file";
	int file = mkstemp(name);
	char *copy;

	CHECK(write(file, text, sizeof(text)) == sizeof(text));
	copy = mmap(NULL, sizeof(text), PROT_READ, MAP_PRIVATE, file, 0);
	CHECK(copy != MAP_FAILED && memcmp(copy, text, sizeof(text)) == 0);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED && errno == EBADF);
	unlink(name);
	return 0;
}

/* A dynamic linker reserves room for a whole library and maps its parts there. */
static int file_in_reserved_room(void)
{
	char name[] = "memory-XXXXXX", bytes[3 * PAGE];
	int file = mkstemp(name), ends[2];
	char *room = mmap(NULL, 64 * MB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *part;

	CHECK(file >= 0 && room != MAP_FAILED && pipe(ends) == 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = mark(i);
	CHECK(write(file, bytes, 2 * PAGE + 100) == 2 * PAGE + 100);
	part = mmap(room + MB, 3 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE, file, 0);
	CHECK(part == room + MB && memcmp(part, bytes, 2 * PAGE + 100) == 0);
	/* The rest of the last page is zero, and may be written. */
	for (size_t i = 2 * PAGE + 100; i < 3 * PAGE; i++)
		CHECK(part[i] == 0);
	part[2 * PAGE + 100] = 1;
	CHECK(pread(file, bytes, 1, 2 * PAGE + 100) == 0);
	/* The page that was there is gone, its neighbours are not. */
	CHECK(mmap(part + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == part + PAGE);
	CHECK(part[PAGE] == mark(0) && part[0] == mark(0) && part[2 * PAGE] == mark(2 * PAGE));
	CHECK(mmap(part + PAGE, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == part + PAGE);
	CHECK(part[PAGE] == 0 && part[2 * PAGE] == mark(2 * PAGE));
	CHECK(mprotect(part, PAGE, PROT_READ) == 0 && part[0] == mark(0));
	CHECK(write(ends[1], room, 1) == -1 && errno == EFAULT);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, ends[0], 0) == MAP_FAILED &&
	      errno == ENODEV);
	CHECK(munmap(room, 64 * MB) == 0);
	close(file);
	unlink(name);
	return 0;
}

static int limits(void)
{
	struct sysinfo info;
	char *heap, *grown;

	CHECK(sysinfo(&info) == 0 && info.totalram * info.mem_unit < 4096 * MB);
	CHECK(map(1UL << 40) == MAP_FAILED && errno == ENOMEM);
	CHECK(malloc(1UL << 40) == NULL);
	/* Room that is reserved and not touched costs nothing. */
	CHECK(mmap(NULL, 1UL << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	heap = sbrk(0);
	CHECK(sbrk(8 * MB) == heap);
	memset(heap, 1, 8 * MB);
	CHECK(sbrk(-(long)(8 * MB)) == heap + 8 * MB && sbrk(0) == heap);
	grown = realloc(malloc(100), 5 * MB);
	memset(grown, 7, 5 * MB);
	grown = realloc(grown, 30 * MB);
	CHECK(grown && grown[5 * MB - 1] == 7);
	return 0;
}

/* A mapping larger than the memory costs only touched pages, whatever its first protection. */
static int sparse(void)
{
	const size_t size = 8UL << 40, step = 1UL << 30, rest = size - 2 * step;
	char *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *place;

	CHECK(room != MAP_FAILED);
	for (size_t at = 0; at < 400 * step; at += step)
		room[at]++;
	CHECK(munmap(room, size) == 0);
	room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(room != MAP_FAILED && mprotect(room + step, step, PROT_READ | PROT_WRITE) == 0);
	for (size_t at = step; at < 2 * step; at += 2 * MB)
		CHECK(room[at]++ == 0);
	place = mmap(NULL, rest, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(room + 2 * step, rest, rest, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	CHECK(munmap(room, 2 * step) == 0 && munmap(place, rest) == 0);
	return 0;
}

/* mremap(2) that leaves an empty mapping, with an address as well. */
static int with_address(char *memory, size_t size)
{
	char *const wrong[] = { memory + 1, memory + size / 2, (char *)-PAGE, (char *)(1UL << 47) };
	int flags = MREMAP_MAYMOVE | 4 /* DONTUNMAP */;
	char *place = map(size);

	memory[0] = 1;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(syscall(SYS_mremap, memory, size, size, flags, wrong[i]) == -1 &&
		      errno == EINVAL);
	CHECK(munmap(place, size) == 0);
	CHECK((char *)syscall(SYS_mremap, memory, size, size, flags, place) == place);
	CHECK(place[0] == 1 && memory[0] == 0);
	/* Without the flag the call takes no address. */
	CHECK((char *)syscall(SYS_mremap, place, size, PAGE, MREMAP_MAYMOVE, wrong[0]) == place);
	return munmap(place, PAGE);
}

/* mremap(2) to an address, and one that leaves an empty mapping; mincore(2). */
static int placing(void)
{
	unsigned char present[4] = { 2, 2, 2, 2 };
	char *memory = map(16 * MB), *place = map(4 * MB), *moved;

	for (size_t i = 0; i < 16 * MB; i += PAGE)
		memory[i] = mark(i);
	CHECK(mremap(memory, 4 * MB, 4 * MB, MREMAP_FIXED, place) == MAP_FAILED && errno == EINVAL);
	CHECK(mremap(memory, 4 * MB, 4 * MB, MREMAP_MAYMOVE | MREMAP_FIXED, memory + 2 * MB) ==
		      MAP_FAILED &&
	      errno == EINVAL);
	moved = mremap(memory + PAGE, 3 * MB, 2 * MB, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	CHECK(moved == place);
	for (size_t i = 0; i < 2 * MB; i += PAGE)
		CHECK(place[i] == mark(i + PAGE));
	CHECK(memory[0] == mark(0) && memory[3 * MB + PAGE] == mark(3 * MB + PAGE));
	CHECK(write(1, memory + PAGE, 1) == -1 && errno == EFAULT);
	moved = mremap(memory + 8 * MB, 4 * MB, 4 * MB, MREMAP_MAYMOVE | 4 /* DONTUNMAP */, NULL);
	CHECK(moved != MAP_FAILED && moved != memory + 8 * MB && moved[0] == mark(8 * MB));
	CHECK(memory[8 * MB] == 0 && memory[12 * MB] == mark(12 * MB));
	CHECK(with_address(moved, 4 * MB) == 0);
	place = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place[PAGE] = 1;
	CHECK(mincore(place, 4 * PAGE, present) == 0);
	CHECK(present[0] == 0 && present[1] == 1 && present[2] == 0 && present[3] == 0);
	CHECK(munmap(place + 3 * PAGE, PAGE) == 0);
	CHECK(mincore(place, 4 * PAGE, present) == -1 && errno == ENOMEM);
	CHECK(mincore(place + 1, PAGE, present) == -1 && errno == EINVAL);
	CHECK(mincore(place, PAGE, (void *)8) == -1 && errno == EFAULT);
	return 0;
}

/*
 * A private mapping that grows has more of its file, also when the file is closed and it moves. A second round
 * has a file with the inode of the first, where inodes are used again.
 */
static int growing_files(void)
{
	char path[] = "growing-XXXXXX", page[PAGE], *memory, *moved, line[256], *name = NULL;
	int fd = mkstemp(path);
	FILE *maps;

	CHECK(fd >= 0);
	for (int i = 0; i < 6; i++) {
		memset(page, 'a' + i, PAGE);
		CHECK(write(fd, page, i < 5 ? PAGE : 100) > 0);
	}
	memory = map(MB);
	CHECK(munmap(memory, MB) == 0);
	memory = mmap(memory, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, PAGE);
	CHECK(memory != MAP_FAILED && close(fd) == 0);
	/* In place, then both parts to another place. */
	CHECK(mremap(memory, PAGE, 2 * PAGE, 0) == memory);
	CHECK(memory[0] == 'b' && memory[PAGE] == 'c');
	moved = map(8 * PAGE);
	CHECK(mremap(memory, 2 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == moved);
	for (int i = 0; i < 5; i++)
		CHECK(moved[i * PAGE] == 'b' + i);
	CHECK(moved[4 * PAGE + 99] == 'f' && moved[4 * PAGE + 100] == 0);
	/* The new part cannot be written, and has its name. */
	CHECK(syscall(SYS_getrandom, moved + 4 * PAGE, 1, 0) == -1 && errno == EFAULT);
	maps = fopen("/proc/self/maps", "r");
	CHECK(maps);
	while (!name && fgets(line, sizeof(line), maps))
		if (strtoul(line, &name, 16) != (unsigned long)moved)
			name = NULL;
	fclose(maps);
	CHECK(name && strtoul(name + 1, NULL, 16) == (unsigned long)moved + 5 * PAGE);
	CHECK(strstr(name, " 00001000 ") && strstr(name, path));
	/* Without its file it keeps its size. */
	CHECK(unlink(path) == 0);
	CHECK(munmap(moved + 5 * PAGE, 3 * PAGE) == 0);
	CHECK(mremap(moved, 5 * PAGE, 6 * PAGE, 0) == MAP_FAILED || moved[5 * PAGE] == 0);
	return munmap(moved, 5 * PAGE);
}

/* Advice and policies hold for what memory grows by. */
static int growing_advice(void)
{
	unsigned long nodes = 0;
	int mode = -1, status;
	char *memory = map(MB);
	pid_t child;

	CHECK(munmap(memory + 2 * PAGE, MB - 2 * PAGE) == 0);
	CHECK(madvise(memory, 2 * PAGE, MADV_WIPEONFORK) == 0);
	CHECK(syscall(SYS_get_mempolicy, NULL, &nodes, 64, NULL, MPOL_F_MEMS_ALLOWED) == 0);
	CHECK(syscall(SYS_mbind, memory, 2 * PAGE, MPOL_BIND, &nodes, 64, 0) == 0);
	CHECK(mremap(memory, 2 * PAGE, 4 * PAGE, 0) == memory);
	memory = mremap(memory, 4 * PAGE, 16 * MB, MREMAP_MAYMOVE);
	CHECK(memory != MAP_FAILED);
	for (size_t at = 0; at < 16 * MB; at += 3 * PAGE) {
		memory[at] = 1;
		CHECK(syscall(SYS_get_mempolicy, &mode, NULL, 0, memory + at, MPOL_F_ADDR) == 0);
		CHECK(mode == MPOL_BIND);
	}
	child = fork();
	if (child == 0) {
		for (size_t at = 0; at < 16 * MB; at += 3 * PAGE)
			if (memory[at])
				_exit(1);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	return munmap(memory, 16 * MB);
}

static char *map_low(char *hint, int flags)
{
	return mmap(hint, MB, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_32BIT | flags, -1, 0);
}

/* Programs with pointers of 32 bits ask for addresses below 2 GB. */
static int low_addresses(void)
{
	char *const end = (char *)(1UL << 31);
	char *parts[4], *high = map(MB);

	CHECK(high > end && munmap(high, MB) == 0);
	for (int i = 0; i < 4; i++) {
		parts[i] = map_low(i == 1 ? high : NULL, i == 2 ? MAP_SHARED : MAP_PRIVATE);
		CHECK(parts[i] != MAP_FAILED && parts[i] + MB <= end);
		parts[i][MB - 1] = mark(0);
	}
	CHECK(munmap(parts[3], MB) == 0 && map_low(parts[3], MAP_PRIVATE) == parts[3]);
	CHECK(map_low(high, MAP_PRIVATE | MAP_FIXED) == high && munmap(high, MB) == 0);
	CHECK(mmap(NULL, 1UL << 31, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0) ==
		      MAP_FAILED &&
	      errno == ENOMEM);
	for (int i = 0; i < 4; i++)
		CHECK(munmap(parts[i], MB) == 0);
	return 0;
}

/* The dynamic linker makes the stack executable for a library that needs that. */
static int executable_stack(void)
{
	unsigned char code[] = { 0xb8, 7, 0, 0, 0, 0xc3 }; /* movl $7, %eax; ret */
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	char *page = (char *)((unsigned long)code & ~(PAGE - 1)), *other = map(2 * PAGE);

	CHECK(mprotect(page, PAGE, all | PROT_GROWSDOWN) == 0);
	CHECK(((int (*)(void))(unsigned long)code)() == 7);
	CHECK(mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_GROWSDOWN) == 0);
	/* Other memory does not grow. */
	CHECK(mprotect(other + PAGE, PAGE, all | PROT_GROWSDOWN) == -1 && errno == EINVAL);
	return munmap(other, 2 * PAGE);
}

static int addresses(void)
{
	static char *const bad[] = { NULL,
				     (char *)8,
				     (char *)0x7eeffffff000,
				     (char *)0x7ffffffff000,
				     (char *)0x8000000000000000,
				     (char *)0xffff900000000000,
				     (char *)-1 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(write(1, bad[i], 1) == -1 && errno == EFAULT);
		CHECK(open(bad[i], O_RDONLY) == -1 && errno == EFAULT);
		CHECK(pipe((int *)bad[i]) == -1 && errno == EFAULT);
	}
	return 0;
}

int main(void)
{
	if (holes() || protection() || moving() || files() || file_in_reserved_room() || limits() ||
	    sparse() || placing() || growing_files() || growing_files() || growing_advice() ||
	    low_addresses() || executable_stack() || addresses())
		return 1;
	puts("all of it is right");
	return 0;
}
