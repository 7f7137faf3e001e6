/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks on Linux and on an LWK what Linux promises of calls on memory that few programs make:
 * advice, barriers, protection keys, the places of pages and the limit of the address space.
 */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "check.h"

#define PAGE 4096UL

static atomic_bool stop;

static void *spin(void *nothing)
{
	while (!atomic_load(&stop))
		;
	return nothing;
}

static int barriers(void)
{
	long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	pthread_t thread;
	int status;
	pid_t child;

	CHECK(known > 0 && known & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	CHECK(known & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) < 0 && errno == EPERM);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0) < 0 &&
	      errno == EPERM);
	child = fork();
	if (child == 0)
		_exit(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) != 0);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	atomic_store(&stop, false);
	CHECK(pthread_create(&thread, NULL, spin, NULL) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0);
	atomic_store(&stop, true);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(syscall(SYS_membarrier, 1 << 30, 0) < 0 && errno == EINVAL);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 99) < 0 && errno == EINVAL);
	return 0;
}

static int protection_keys(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int key = pkey_alloc(0, 0);

	CHECK(page != MAP_FAILED && (key > 0 || errno == ENOSPC));
	CHECK(key < 0 || pkey_free(key) == 0);
	CHECK(pkey_alloc(1, 0) < 0 && errno == EINVAL && pkey_free(99) < 0 && errno == EINVAL);
	CHECK(pkey_mprotect(page, PAGE, PROT_READ | PROT_WRITE, -1) == 0);
	*page = 1;
	CHECK(pkey_mprotect(page, PAGE, PROT_READ, 99) < 0 && errno == EINVAL);
	CHECK(munmap(page, PAGE) == 0);
	return 0;
}

static int places(void)
{
	char *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *pages[] = { memory, memory + 3 * PAGE, memory + 2 * PAGE };
	int nodes[3] = { -99, -99, -99 };

	CHECK(memory != MAP_FAILED && munmap(memory + 2 * PAGE, PAGE) == 0);
	*memory = 1;
	CHECK(syscall(SYS_move_pages, 0, 3, pages, NULL, nodes, 0) == 0 && nodes[0] >= 0);
	CHECK(nodes[1] == -ENOENT || nodes[1] == -EFAULT);
	CHECK(nodes[2] == -EFAULT || nodes[2] == -ENOENT);
	CHECK(syscall(SYS_move_pages, getpid(), 1, pages, NULL, nodes, 0) == 0 && nodes[0] >= 0);
	CHECK(syscall(SYS_move_pages, 0, 1, PAGE, NULL, nodes, 0) < 0 && errno == EFAULT);
	CHECK(munmap(memory, 4 * PAGE) == 0);
	return 0;
}

static int advice(void)
{
	char *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char present[4];
	int status;
	pid_t child;

	CHECK(memory != MAP_FAILED);
	memset(memory, 'a', 4 * PAGE);
	CHECK(madvise(memory + PAGE, PAGE, MADV_WIPEONFORK) == 0);
	CHECK(madvise(memory + 2 * PAGE, PAGE, MADV_DONTFORK) == 0);
	/* A child's child inherits the advice. */
	child = fork();
	if (child == 0)
		child = fork();
	if (child == 0)
		_exit(memory[0] != 'a' || memory[PAGE] || memory[4 * PAGE - 1] != 'a' ||
		      mincore(memory + 2 * PAGE, PAGE, present) != -1 || errno != ENOMEM);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	if (memory[PAGE] == 0)
		_exit(status != 0);
	CHECK(status == 0 && memory[PAGE] == 'a' && memory[2 * PAGE] == 'a');
	CHECK(madvise(memory, 4 * PAGE, MADV_KEEPONFORK) == 0);
	CHECK(madvise(memory, 4 * PAGE, MADV_DOFORK) == 0);
	child = fork();
	if (child == 0)
		_exit(memory[PAGE] != 'a' || memory[2 * PAGE] != 'a');
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	/* Locked pages are there. */
	CHECK(madvise(memory, 4 * PAGE, MADV_DONTNEED) == 0 && mlock(memory, 2 * PAGE) == 0);
	CHECK(mincore(memory, 4 * PAGE, present) == 0 && present[1] & 1 && !(present[2] & 1));
	CHECK(madvise(memory, PAGE, 77) == -1 && errno == EINVAL);
	CHECK(madvise(memory + 1, PAGE, MADV_NORMAL) == -1 && errno == EINVAL);
	memset(memory, 'a', 4 * PAGE);
	/* Linux discards no locked pages. */
	CHECK(munlock(memory, 2 * PAGE) == 0 && munmap(memory + PAGE, PAGE) == 0);
	CHECK(madvise(memory, 2 * PAGE, MADV_SEQUENTIAL) == -1 && errno == ENOMEM);
	CHECK(madvise(memory, 3 * PAGE, MADV_DONTNEED) == -1 && errno == ENOMEM);
	CHECK(!memory[0] && !memory[2 * PAGE] && memory[3 * PAGE] == 'a');
	CHECK(madvise(memory + PAGE, 0, MADV_DONTNEED) == 0);
	return munmap(memory, 4 * PAGE);
}

/* ---- advice about a private mapping of a file ---- */

#define FILE_PAGES 1030 /* more than two large pages */

static char letter(size_t page)
{
	return 'a' + page % 26;
}

/* The last page of the file ends with zeros. */
static int make_file(char *path)
{
	char page[PAGE];
	int fd = mkstemp(path);

	for (size_t i = 0; i < FILE_PAGES; i++) {
		memset(page, letter(i), PAGE);
		if (write(fd, page, i < FILE_PAGES - 1 ? PAGE : 100) < 0)
			return -1;
	}
	return fd;
}

static atomic_bool seen_other;

static void *look(void *page)
{
	while (!atomic_load(&stop))
		if (*(volatile char *)page != letter(1))
			atomic_store(&seen_other, true);
	return NULL;
}

/* Threads that read the file's mapping meanwhile find the file. */
static int discard_before_eyes(char *memory)
{
	pthread_t thread;

	atomic_store(&stop, false);
	CHECK(pthread_create(&thread, NULL, look, memory + PAGE) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(madvise(memory + PAGE, PAGE, MADV_DONTNEED) == 0);
	atomic_store(&stop, true);
	CHECK(pthread_join(thread, NULL) == 0 && !atomic_load(&seen_other));
	return 0;
}

static int files_advice(void)
{
	const size_t size = FILE_PAGES * PAGE, last = size - PAGE;
	char path[] = "advice-XXXXXX", *memory;
	int fd = make_file(path), error;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(fd >= 0 && memory != MAP_FAILED);
	memset(memory, '!', size);
	/* The program's own text is gone, also behind the file's end; the rest is as it was. */
	CHECK(madvise(memory + PAGE, size - PAGE, MADV_DONTNEED) == 0 && memory[PAGE - 1] == '!');
	for (size_t i = 1; i < FILE_PAGES; i++)
		CHECK(memory[i * PAGE] == letter(i) && memory[i * PAGE + 99] == letter(i));
	for (size_t at = last + 100; at < size; at++)
		CHECK(memory[at] == 0);
	CHECK(discard_before_eyes(memory) == 0);
	/* The mapping keeps its protection. */
	memset(memory + PAGE, '!', PAGE);
	CHECK(mprotect(memory + PAGE, PAGE, PROT_READ) == 0);
	CHECK(madvise(memory, 2 * PAGE, MADV_DONTNEED) == 0 && memory[0] == letter(0));
	CHECK(memory[PAGE] == letter(1) && read(fd, memory + PAGE, 1) <= 0);
	CHECK(madvise(memory, PAGE, 8 /* MADV_FREE */) == -1 && errno == EINVAL);
	/* Memory on both sides of a hole is discarded. */
	memory[0] = memory[last] = '!';
	CHECK(munmap(memory + 2 * PAGE, PAGE) == 0);
	CHECK(madvise(memory, size, MADV_DONTNEED) == -1 && errno == ENOMEM);
	CHECK(memory[0] == letter(0) && memory[last] == letter(FILE_PAGES - 1));
	/* A file that is gone cannot be read by the LWK. */
	CHECK(unlink(path) == 0);
	memory[0] = '!';
	error = madvise(memory, PAGE, MADV_DONTNEED);
	CHECK(error ? errno == EIO && memory[0] == '!' : memory[0] == letter(0));
	close(fd);
	return munmap(memory, size);
}

static bool has_room_for(size_t size)
{
	void *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room != MAP_FAILED)
		munmap(room, size);
	return room != MAP_FAILED;
}

static int address_space(void)
{
	const size_t limit = 512 << 20, step = 64 << 20;
	struct rlimit old, now;
	int status;
	void *end, *room, *place;
	pid_t child;

	CHECK(getrlimit(RLIMIT_AS, &old) == 0 && old.rlim_cur == RLIM_INFINITY);
	now = (struct rlimit){ limit, old.rlim_max };
	CHECK(setrlimit(RLIMIT_AS, &now) == 0);
	CHECK(prlimit(getpid(), RLIMIT_AS, NULL, &now) == 0 && now.rlim_cur == limit);
	CHECK(!has_room_for(limit) && errno == ENOMEM && has_room_for(step));
	room = mmap(NULL, step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place = mmap(NULL, 2 * step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(room != MAP_FAILED && place != MAP_FAILED);
	now.rlim_cur = step + step / 2;
	CHECK(setrlimit(RLIMIT_AS, &now) == 0);
	CHECK(mremap(room, step, 2 * step, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED &&
	      errno == ENOMEM);
	CHECK(mremap(room, step, step, MREMAP_MAYMOVE | 4 /* DONTUNMAP */, NULL) == MAP_FAILED &&
	      errno == ENOMEM);
	CHECK(mremap(room, step, step, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	now.rlim_cur = limit;
	CHECK(setrlimit(RLIMIT_AS, &now) == 0 && munmap(place, 2 * step) == 0);
	end = sbrk(0);
	CHECK(sbrk(limit) == (void *)-1 && errno == ENOMEM && sbrk(0) == end);
	child = fork();
	if (child == 0)
		_exit(has_room_for(limit) || !has_room_for(step));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	now.rlim_cur = old.rlim_max;
	now.rlim_max = 0;
	CHECK(setrlimit(RLIMIT_AS, &now) == -1 && errno == EINVAL);
	CHECK(setrlimit(RLIMIT_AS, &old) == 0 && has_room_for(limit));
	CHECK(setrlimit(RLIMIT_AS, (void *)8) == -1 && errno == EFAULT);
	CHECK(getrlimit(RLIMIT_AS, (void *)8) == -1 && errno == EFAULT);
	return 0;
}

int main(void)
{
	if (advice() || files_advice() || barriers() || protection_keys() || places() ||
	    address_space())
		return 1;
	puts("all of it is right");
	return 0;
}
