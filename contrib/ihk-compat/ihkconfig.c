// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reserves CPUs and memory and makes OS instances, with libihk.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "words.h"

static int cpus[MAX_ITEMS];
static struct ihk_mem_chunk chunks[MAX_ITEMS];

static int query_cpus(int device)
{
	int n = ihk_get_num_reserved_cpus(device);
	int result = n < 0 ? n : ihk_query_cpu(device, cpus, n);

	if (result >= 0)
		print_cpus(cpus, n);
	return told("query cpu", result);
}

static int query_memory(int device)
{
	int n = ihk_get_num_reserved_mem_chunks(device), result;

	result = n < 0 ? n : n > MAX_ITEMS ? -E2BIG : ihk_query_mem(device, chunks, n);
	if (result >= 0)
		print_memory(chunks, n);
	return told("query mem", result);
}

static int list_instances(int device)
{
	int n = ihk_get_num_os_instances(device);
	int result = n < 0 ? n : ihk_get_os_instances(device, cpus, n);

	if (result >= 0)
		print_cpus(cpus, n);
	return told("get os_instances", result);
}

static int create(int device)
{
	int result = ihk_create_os(device);

	if (result >= 0)
		printf("%d\n", result);
	return told("create", result);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[2] : "", *what = argc > 3 ? argv[3] : "";
	int device;

	if (argc < 3)
		errx(2, "usage: ihkconfig DEVICE create | destroy OS | reserve cpu LIST | "
			"reserve mem SIZE@NODE,... | release cpu LIST | release mem all | "
			"query cpu | query mem | get os_instances");
	device = read_number(argv[1]);
	if (strcmp(verb, "create") == 0)
		return create(device);
	if (strcmp(verb, "destroy") == 0 && argc == 4)
		return told(verb, ihk_destroy_os(device, read_number(what)));
	if (strcmp(verb, "get") == 0 && strcmp(what, "os_instances") == 0)
		return list_instances(device);
	if (strcmp(verb, "query") == 0 && strcmp(what, "cpu") == 0)
		return query_cpus(device);
	if (strcmp(verb, "query") == 0 && strcmp(what, "mem") == 0)
		return query_memory(device);
	if (argc == 5 && strcmp(verb, "reserve") == 0 && strcmp(what, "cpu") == 0)
		return told("reserve cpu", ihk_reserve_cpu(device, cpus, read_cpus(argv[4], cpus)));
	if (argc == 5 && strcmp(verb, "release") == 0 && strcmp(what, "cpu") == 0)
		return told("release cpu", ihk_release_cpu(device, cpus, read_cpus(argv[4], cpus)));
	if (argc == 5 && strcmp(verb, "reserve") == 0 && strcmp(what, "mem") == 0)
		return told("reserve mem",
			    ihk_reserve_mem(device, chunks, read_memory(argv[4], chunks)));
	if (argc == 5 && strcmp(verb, "release") == 0 && strcmp(what, "mem") == 0)
		return told("release mem",
			    ihk_release_mem(device, chunks, read_memory(argv[4], chunks)));
	errx(2, "expected a verb with what it needs, found \"%s %s\"", verb, what);
}
