// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests MOVE, with a thread that writes to the pages meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi.h"

#define MOVE_PAGES 512U
#define MOVE_ROUNDS 40

static char *move_memory;
static __u64 move_addresses[MOVE_PAGES];
static __s32 move_status[MOVE_PAGES];
static volatile bool move_over;

static int move_to(unsigned int where, __u32 count)
{
	struct lwkpart_move request = { .pid = getpid(),
					.node = where,
					.addresses = (uintptr_t)move_addresses,
					.status = (uintptr_t)move_status,
					.count = count };

	return call(LWKPART_MOVE, &request);
}

/*
 * Switches NUMA balancing on ('1') or off ('0'). Returns the former setting. While on, move_pages(2)
 * does not find pages that it has unmapped for a moment.
 */
static char balancing(char on)
{
	int fd = open("/proc/sys/kernel/numa_balancing", O_RDWR);
	char was = '0';

	if (fd >= 0 && (pread(fd, &was, 1, 0) != 1 || pwrite(fd, &on, 1, 0) != 1))
		was = '0';
	close(fd);
	return was;
}

/* Moves the pages that move_to() left, by move_pages(2), which puts all into the LRU lists. */
static void let_kernel_move(unsigned int where)
{
	int nodes[MOVE_PAGES], status[MOVE_PAGES];

	for (unsigned int i = 0; i < MOVE_PAGES; i++)
		nodes[i] = where;
	syscall(SYS_move_pages, 0, MOVE_PAGES, move_addresses, nodes, status, 2);
}

/* The number of pages that are on a node, as move_pages(2) tells. */
static unsigned int pages_on(unsigned int where)
{
	int nodes[MOVE_PAGES];
	unsigned int n = 0;

	syscall(SYS_move_pages, 0, MOVE_PAGES, move_addresses, NULL, nodes, 0);
	for (unsigned int i = 0; i < MOVE_PAGES; i++)
		n += nodes[i] == (int)where;
	return n;
}

static unsigned int count_status(__s32 wanted)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < MOVE_PAGES; i++)
		n += move_status[i] == wanted;
	return n;
}

/* A thread that increments a counter in every page, until move_over. */
static void *count_on(void *rounds)
{
	for (; !move_over; ++*(unsigned long *)rounds)
		for (unsigned int i = 0; i < MOVE_PAGES; i++)
			++*(volatile unsigned long *)(move_memory + i * 4096UL);
	return NULL;
}

static void test_move_bad(void)
{
	struct lwkpart_move request = { .pid = getpid(),
					.addresses = (uintptr_t)move_addresses,
					.status = (uintptr_t)move_status,
					.count = MOVE_PAGES },
			    bad = request;

	bad.reserved = 1;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE with something in 'reserved'");
	bad = request;
	bad.count = 0;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE of nothing");
	bad.count = 65537;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE of too much");
	bad = request;
	bad.node = 99;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE to a node that is not there");
	bad.node = ~0U;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE to no node");
	bad = request;
	bad.pid = -1;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE of a negative process");
	bad.pid = 4194000;
	check_result(call(LWKPART_MOVE, &bad), ESRCH, "MOVE of no process");
	bad.pid = 2;
	check_result(call(LWKPART_MOVE, &bad), ESRCH, "MOVE of a kernel thread");
	bad = request;
	bad.addresses = 8;
	check_result(call(LWKPART_MOVE, &bad), EFAULT, "MOVE with a bad pointer");
	bad = request;
	bad.status = 8;
	check_result(call(LWKPART_MOVE, &bad), EFAULT, "MOVE with nowhere to tell");
	move_addresses[0]++;
	check_result(call(LWKPART_MOVE, &request), EINVAL, "MOVE of half a page");
	move_addresses[0] = 1ULL << 63;
	check_result(call(LWKPART_MOVE, &request), EINVAL, "MOVE of the kernel's memory");
	move_addresses[0] = (uintptr_t)move_memory;
}

static void test_move_kinds(void)
{
	unsigned int moved = 0;
	int ends[2], error = 0;
	char byte = 0;
	pid_t child;

	check_result(pipe(ends) ? errno : 0, 0, "pipe");
	let_kernel_move(node);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1));
	}
	close(ends[0]);
	check_result(move_to(0, MOVE_PAGES), 0, "MOVE of what a child has too");
	check(count_status(-EAGAIN) == MOVE_PAGES, "nothing of it moves");
	close(ends[1]);
	waitpid(child, NULL, 0);
	munmap(move_memory + 4096, 4096);
	mprotect(move_memory + 2 * 4096, 4096, PROT_NONE);
	/* MOVE also leaves out a page that is not in an LRU list yet. */
	for (unsigned int i = 0; !error && moved <= MOVE_PAGES / 2 && i < MOVE_ROUNDS; i++) {
		let_kernel_move(node);
		error = move_to(0, MOVE_PAGES);
		moved = count_status(0);
	}
	check_result(error, 0, "MOVE with a hole");
	check(move_status[1] == -EAGAIN && move_status[2] == -EAGAIN && moved > MOVE_PAGES / 2,
	      "what is not there, or closed, is left out");
}

void test_move(void)
{
	unsigned long counted = 0;
	unsigned int wrong = 0, moved = 0, i;
	char balanced = balancing('0');
	pthread_t thread;

	move_memory = mmap(NULL, MOVE_PAGES * 4096UL, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!check(move_memory != MAP_FAILED, "memory to move"))
		return;
	madvise(move_memory, MOVE_PAGES * 4096UL, MADV_NOHUGEPAGE);
	memset(move_memory, 0, MOVE_PAGES * 4096UL);
	for (i = 0; i < MOVE_PAGES; i++)
		move_addresses[i] = (uintptr_t)move_memory + i * 4096UL;
	test_move_bad();
	check_result(pthread_create(&thread, NULL, count_on, &counted), 0, "a thread");
	for (i = 0; i < MOVE_ROUNDS; i++) {
		unsigned int where = i % 2 ? node : 0;

		let_kernel_move(i % 2 ? 0 : node);
		if (move_to(where, MOVE_PAGES) || pages_on(where) < count_status(where))
			wrong++;
		moved += count_status(where);
	}
	move_over = true;
	pthread_join(thread, NULL);
	balancing(balanced);
	check(!wrong, "MOVE moves the pages that it says");
	/* In some rounds many pages are not in an LRU list yet. */
	check(moved > MOVE_ROUNDS * MOVE_PAGES / 2, "MOVE moves most pages");
	for (i = wrong = 0; i < MOVE_PAGES; i++)
		wrong += *(unsigned long *)(move_memory + i * 4096UL) != counted;
	check(counted && !wrong, "no page loses what is written while it moves");
	test_move_kinds();
	munmap(move_memory, MOVE_PAGES * 4096UL);
}
