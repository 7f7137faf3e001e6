/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/status.h"

#include <stdbool.h>
#include <string.h>

#include "lwkexec/base/numbers.h"
#include "lwkexec/instance/memory.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/view/sys.h"

#define KB(bytes) ((unsigned long long)(bytes) / 1024)

/* Replaces a line of Linux's, with as many words as it has, or more if the set needs them. */
static void print_mask(FILE *out, const char *line, const struct numbers *set)
{
	size_t words = 1;

	for (const char *at = line; (at = strchr(at, ',')); at++)
		words++;
	for (size_t i = words; i < NUMBERS_WORDS; i++)
		if (set->words[i])
			words = i + 1;
	fprintf(out, "%.*s:\t", (int)(strchr(line, ':') - line), line);
	for (size_t i = words; i-- > 0;)
		fprintf(out, "%08x%s", i < NUMBERS_WORDS ? set->words[i] : 0, i ? "," : "\n");
}

static void print_list(FILE *out, const char *line, const struct numbers *set)
{
	fprintf(out, "%.*s:\t", (int)(strchr(line, ':') - line), line);
	numbers_print(out, set);
	fputc('\n', out);
}

void status_print(FILE *out)
{
	FILE *in = fopen("/proc/self/status", "re");
	struct numbers cpus, nodes;
	bool nodes_known = sys_nodes(&nodes);
	char line[512];

	session_cpus(&cpus);
	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, "VmPeak:", 7) == 0 || strncmp(line, "VmHWM:", 6) == 0)
			fprintf(out, "%.*s:\t%8llu kB\n", (int)(strchr(line, ':') - line), line,
				KB(memory_of_process()->peak_bytes));
		else if (strncmp(line, "VmSize:", 7) == 0 || strncmp(line, "VmRSS:", 6) == 0 ||
			 strncmp(line, "RssAnon:", 8) == 0)
			fprintf(out, "%.*s:\t%8llu kB\n", (int)(strchr(line, ':') - line), line,
				KB(memory_resident()));
		else if (strncmp(line, "Vm", 2) == 0 || strncmp(line, "Rss", 3) == 0 ||
			 strncmp(line, "HugetlbPages:", 13) == 0)
			fprintf(out, "%.*s:\t%8d kB\n", (int)(strchr(line, ':') - line), line, 0);
		else if (strncmp(line, "Cpus_allowed:", 13) == 0)
			print_mask(out, line, &cpus);
		else if (strncmp(line, "Cpus_allowed_list:", 18) == 0)
			print_list(out, line, &cpus);
		else if (nodes_known && strncmp(line, "Mems_allowed:", 13) == 0)
			print_mask(out, line, &nodes);
		else if (nodes_known && strncmp(line, "Mems_allowed_list:", 18) == 0)
			print_list(out, line, &nodes);
		else
			fputs(line, out);
	}
	if (in)
		fclose(in);
}
