/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks on Linux and on an LWK that memory comes from the NUMA nodes that set_mempolicy and mbind
 * name. Prints how many nodes there are to choose from.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define PAGE 4096UL
#define BYTES (6UL << 20)
#define BITS 1025

static long set(int mode, const uint64_t *nodes)
{
	return syscall(SYS_set_mempolicy, mode, nodes, nodes ? 64 : 0);
}

static long bind_to(void *at, size_t size, int mode, const uint64_t *nodes, unsigned flags)
{
	return syscall(SYS_mbind, at, size, mode, nodes, nodes ? 64 : 0, flags);
}

static long get(int *mode, uint64_t *nodes, const void *at, unsigned flags)
{
	return syscall(SYS_get_mempolicy, mode, nodes, nodes ? BITS : 0, at, flags);
}

static char *fresh(void)
{
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* The nodes that it is on, once it is touched. */
static uint64_t nodes_of(char *at)
{
	uint64_t nodes = 0;
	int node;

	for (size_t i = 0; i < BYTES; i += PAGE) {
		at[i] = 1;
		if (get(&node, NULL, at + i, MPOL_F_NODE | MPOL_F_ADDR))
			return 0;
		nodes |= 1UL << node;
	}
	return nodes;
}

static void *in_thread(void *argument)
{
	*(uint64_t *)argument = nodes_of(fresh());
	return NULL;
}

static int each_node(uint64_t node)
{
	char *bound = fresh(), *preferred;
	uint64_t mask[BITS / 64 + 1], elsewhere;
	pthread_t thread;
	int mode, status;

	CHECK(bound && bind_to(bound, BYTES, MPOL_BIND, &node, 0) == 0);
	CHECK(nodes_of(bound) == node);
	CHECK(get(&mode, mask, bound, MPOL_F_ADDR) == 0 && mode == MPOL_BIND && mask[0] == node);
	CHECK(bind_to(bound, BYTES, MPOL_BIND, &node, MPOL_MF_STRICT) == 0);

	CHECK(set(MPOL_PREFERRED, &node) == 0);
	CHECK(get(&mode, mask, NULL, 0) == 0 && mode == MPOL_PREFERRED && mask[0] == node);
	preferred = fresh();
	/* The thread's policy is no policy of an area. */
	CHECK(get(&mode, mask, preferred, MPOL_F_ADDR) == 0 && mode == MPOL_DEFAULT &&
	      mask[0] == 0);
	CHECK(nodes_of(preferred) == node);
	CHECK(pthread_create(&thread, NULL, in_thread, &elsewhere) == 0);
	CHECK(pthread_join(thread, NULL) == 0 && elsewhere == node);
	if (fork() == 0)
		_exit(nodes_of(fresh()) == node ? 0 : 1);
	CHECK(wait(&status) > 0 && status == 0);
	CHECK(set(MPOL_DEFAULT, NULL) == 0);
	munmap(bound, BYTES);
	munmap(preferred, BYTES);
	return 0;
}

static int both(uint64_t nodes)
{
	uint64_t first = nodes & -nodes, second = nodes & (nodes - 1);
	char *mixed = fresh(), *there = fresh();

	CHECK(bind_to(mixed, BYTES, MPOL_INTERLEAVE, &nodes, 0) == 0 && nodes_of(mixed) == nodes);
	CHECK(bind_to(there, BYTES, MPOL_BIND, &first, 0) == 0 && nodes_of(there) == first);
	CHECK(bind_to(there, BYTES, MPOL_BIND, &second, MPOL_MF_STRICT) == -1 && errno == EIO);
	munmap(mixed, BYTES);
	munmap(there, BYTES);
	return 0;
}

static int bad_requests(uint64_t nodes)
{
	uint64_t none = 0, absent = 1UL << 62;
	char *at = fresh();

	CHECK(set(99, &nodes) == -1 && errno == EINVAL);
	CHECK(set(MPOL_BIND, &none) == -1 && errno == EINVAL);
	CHECK(set(MPOL_BIND, &absent) == -1 && errno == EINVAL);
	CHECK(set(MPOL_DEFAULT, &nodes) == -1 && errno == EINVAL);
	CHECK(set(MPOL_BIND, (uint64_t *)8) == -1 && errno == EFAULT);
	CHECK(set(MPOL_BIND, (uint64_t *)0xffff800000000000) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, ~0UL) == -1 && errno == EINVAL);
	CHECK(bind_to(at + 1, PAGE, MPOL_BIND, &nodes, 0) == -1 && errno == EINVAL);
	CHECK(bind_to(at, PAGE, MPOL_BIND, &nodes, 64) == -1 && errno == EINVAL);
	CHECK(munmap(at + PAGE, PAGE) == 0);
	CHECK(bind_to(at, 3 * PAGE, MPOL_BIND, &nodes, 0) == -1 && errno == EFAULT);
	CHECK(get(NULL, NULL, at + PAGE, MPOL_F_ADDR) == -1 && errno == EFAULT);
	CHECK(get(NULL, NULL, at, 0) == -1 && errno == EINVAL);
	CHECK(get(NULL, NULL, NULL, 8) == -1 && errno == EINVAL);
	CHECK(get(NULL, (uint64_t *)8, NULL, 0) == -1 && errno == EFAULT);
	munmap(at, BYTES);
	return 0;
}

/* Another program has the policy too. */
static int after(const char *node)
{
	uint64_t wanted = strtoul(node, NULL, 0);

	CHECK(nodes_of(fresh()) == wanted);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t nodes[BITS / 64 + 1] = { 0 };
	char text[32];
	unsigned n = 0;

	if (argc == 2) {
		if (after(argv[1]))
			return 1;
		puts("and another program too");
		return 0;
	}
	CHECK(get(NULL, nodes, NULL, MPOL_F_MEMS_ALLOWED) == 0 && nodes[0]);
	for (uint64_t rest = nodes[0]; rest; rest &= rest - 1, n++)
		if (each_node(rest & -rest))
			return 1;
	if ((n > 1 && both(nodes[0])) || bad_requests(nodes[0]))
		return 1;
	printf("%u nodes\n", n);
	fflush(stdout);
	/* The last of them, which is not the one that is nearest. */
	while (nodes[0] & (nodes[0] - 1))
		nodes[0] &= nodes[0] - 1;
	CHECK(set(MPOL_BIND, nodes) == 0);
	snprintf(text, sizeof(text), "%lu", nodes[0]);
	CHECK(execl("/proc/self/exe", argv[0], text, (char *)NULL) == 0);
	return 0;
}
