/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-memory [TEST]: memory that a program has without asking for it, as Fortran programs do: static arrays,
 * arrays on the stack, and code on the stack.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define MB (1UL << 20)
#define PAGE 4096UL

static char untouched[150 * MB];
static char touched[16 * MB];

/* Nobody has touched the array, so it has no memory. */
static int static_arrays(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages;

	CHECK(file && fscanf(file, "%*u %lu", &pages) == 1);
	fclose(file);
	CHECK(untouched[150 * MB - 1] == 0);
	CHECK(pages * PAGE < 50 * MB);
	return 0;
}

/* The node that the program asks for last has the pages that it touches then. */
static int first_touch(void)
{
	unsigned long nodes = 0;
	int node;

	CHECK(syscall(SYS_get_mempolicy, NULL, &nodes, 64, NULL, MPOL_F_MEMS_ALLOWED) == 0);
	for (unsigned long left = nodes, at = 2 * MB; left; left &= left - 1, at += 2 * MB) {
		unsigned long wanted = left & -left;
		char *page = &touched[at % sizeof(touched)];

		CHECK(syscall(SYS_set_mempolicy, MPOL_BIND, &wanted, 64) == 0);
		*page = 1;
		CHECK(syscall(SYS_get_mempolicy, &node, NULL, 0, page, MPOL_F_NODE | MPOL_F_ADDR) ==
		      0);
		CHECK(wanted == 1UL << node);
	}
	CHECK(syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0) == 0);
	return 0;
}

static __attribute__((noinline)) long sum_of_parts(size_t size)
{
	volatile char array[size];
	long sum = 0;

	for (size_t i = 0; i < size; i += PAGE)
		array[i] = 1;
	for (size_t i = 0; i < size; i += PAGE)
		sum += array[i];
	return sum;
}

/* With ulimit -s unlimited. */
static int large_stack(void)
{
	CHECK(sum_of_parts(90 * MB) == 90 * MB / PAGE);
	return 0;
}

static __attribute__((noinline)) int twice(int (*function)(int), int x)
{
	return function(function(x));
}

/* gcc puts code on the stack that finds the variables of the outer function, as gfortran does. */
static int nested_functions(void)
{
	volatile int summand = 4;
	int add(int x)
	{
		return x + summand;
	}

	CHECK(twice(add, 1) == 9);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "static-arrays", static_arrays },
		{ "first-touch", first_touch },
		{ "large-stack", large_stack },
		{ "nested-functions", nested_functions },
	};

	return RUN_TESTS(tests, argc > 1 ? argv[1] : NULL);
}
