// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drives an OS instance, with libihk.
 */
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

static int cpus[MAX_ITEMS];
static struct ihk_mem_chunk chunks[MAX_ITEMS];
static struct ihk_ikc_cpu_map map[MAX_ITEMS];

static int query_cpus(int os)
{
	int n = ihk_os_get_num_assigned_cpus(os);
	int result = n < 0 ? n : ihk_os_query_cpu(os, cpus, n);

	if (result >= 0)
		print_cpus(cpus, n);
	return told("query cpu", result);
}

static int query_memory(int os)
{
	int n = ihk_os_get_num_assigned_mem_chunks(os);
	int result = n < 0 ? n : n > MAX_ITEMS ? -E2BIG : ihk_os_query_mem(os, chunks, n);

	if (result >= 0)
		print_memory(chunks, n);
	return told("query mem", result);
}

static int get_map(int os)
{
	int n = ihk_os_get_num_assigned_cpus(os);
	int result = n < 0 ? n : ihk_os_get_ikc_map(os, map, n);

	for (int i = 0; result >= 0 && i < n; i++)
		printf("%s%d:%d", i ? "+" : "", map[i].src_cpu, map[i].dst_cpu);
	if (result >= 0)
		printf("\n");
	return told("get ikc_map", result);
}

static int get_status(int os)
{
	static const char *const words[] = { "INACTIVE", "BOOTING", "RUNNING",	"SHUTDOWN",
					     "PANIC",	 "HUNGUP",  "FREEZING", "FROZEN" };
	int status = ihk_os_get_status(os);

	if (status >= 0)
		printf("%s\n", words[status]);
	return told("get status", status);
}

static int print_kmsg(int os)
{
	int size = ihk_os_get_kmsg_size(os), result = size;
	char *text = size < 0 ? NULL : malloc(size);

	if (text)
		result = ihk_os_kmsg(os, text, size);
	if (text && result > 0)
		fwrite(text, 1, result, stdout);
	free(text);
	return told("kmsg", result);
}

static int freeze(int os, bool frozen)
{
	unsigned long set[16] = { 0 };
	int n = 8 * sizeof(set);

	if (os >= n)
		return told("freeze", -ENOENT);
	set[os / 64] = 1UL << os % 64;
	return told(frozen ? "freeze" : "thaw",
		    frozen ? ihk_os_freeze(set, n) : ihk_os_thaw(set, n));
}

static int with_argument(int os, const char *verb, char *argument)
{
	if (strcmp(verb, "load") == 0)
		return told(verb, ihk_os_load(os, argument));
	if (strcmp(verb, "kargs") == 0)
		return told(verb, ihk_os_kargs(os, argument));
	if (strcmp(verb, "chown") == 0)
		return told(verb, ihk_os_set_owner(os, read_number(argument)));
	if (strcmp(verb, "dump") == 0)
		return told(verb, ihk_os_makedumpfile(os, argument, 0, 0));
	if (strcmp(verb, "get") == 0 && strcmp(argument, "status") == 0)
		return get_status(os);
	if (strcmp(verb, "get") == 0 && strcmp(argument, "ikc_map") == 0)
		return get_map(os);
	if (strcmp(verb, "query") == 0 && strcmp(argument, "cpu") == 0)
		return query_cpus(os);
	if (strcmp(verb, "query") == 0 && strcmp(argument, "mem") == 0)
		return query_memory(os);
	errx(2, "expected a verb with what it needs, found \"%s %s\"", verb, argument);
}

static int with_resource(int os, const char *verb, const char *what, const char *list)
{
	if (strcmp(verb, "assign") == 0 && strcmp(what, "cpu") == 0)
		return told("assign cpu", ihk_os_assign_cpu(os, cpus, read_cpus(list, cpus)));
	if (strcmp(verb, "release") == 0 && strcmp(what, "cpu") == 0)
		return told("release cpu", ihk_os_release_cpu(os, cpus, read_cpus(list, cpus)));
	if (strcmp(verb, "assign") == 0 && strcmp(what, "mem") == 0)
		return told("assign mem", ihk_os_assign_mem(os, chunks, read_memory(list, chunks)));
	if (strcmp(verb, "release") == 0 && strcmp(what, "mem") == 0)
		return told("release mem",
			    ihk_os_release_mem(os, chunks, read_memory(list, chunks)));
	if (strcmp(verb, "set") == 0 && strcmp(what, "ikc_map") == 0)
		return told("set ikc_map", ihk_os_set_ikc_map(os, map, read_map(list, map)));
	errx(2, "expected a verb with what it needs, found \"%s %s\"", verb, what);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[2] : "";
	int os;

	if (argc < 3 || argc > 5)
		errx(2, "usage: ihkosctl OS assign|release cpu LIST | assign|release mem "
			"SIZE@NODE,... | query cpu|mem | set ikc_map LIST:CPU+... | "
			"get ikc_map|status | load FILE | kargs TEXT | boot | shutdown | kmsg | "
			"clear_kmsg | freeze | thaw | dump FILE | chown UID");
	os = read_number(argv[1]);
	if (argc == 4)
		return with_argument(os, verb, argv[3]);
	if (argc == 5)
		return with_resource(os, verb, argv[3], argv[4]);
	if (strcmp(verb, "boot") == 0)
		return told(verb, ihk_os_boot(os));
	if (strcmp(verb, "shutdown") == 0)
		return told(verb, ihk_os_shutdown(os));
	if (strcmp(verb, "kmsg") == 0)
		return print_kmsg(os);
	if (strcmp(verb, "clear_kmsg") == 0)
		return told(verb, ihk_os_clear_kmsg(os));
	if (strcmp(verb, "freeze") == 0 || strcmp(verb, "thaw") == 0)
		return freeze(os, strcmp(verb, "freeze") == 0);
	errx(2, "expected a verb with what it needs, found \"%s\"", verb);
}
