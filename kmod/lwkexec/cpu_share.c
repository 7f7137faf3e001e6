/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/cpu_share.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lwkexec/base/divide.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/view/sys.h"

/* Set by the SPANK plugin: "RANK/RANKS PART", or that and " verbose". */
#define ENV_SHARE "LWK_SHARE"
#define CPU "/sys/devices/system/cpu/cpu%u/topology/"

struct request {
	uint32_t rank, ranks;
	enum part by;
	bool verbose;
};

static void parse(const char *text, struct request *request)
{
	static const char *const parts[] = { "sockets", "ldoms", "cores", "threads" };
	char part[16], verbose[16] = "";
	int n = sscanf(text, "%u/%u %15s %15s", &request->rank, &request->ranks, part, verbose);

	request->verbose = n == 4 && strcmp(verbose, "verbose") == 0;
	for (request->by = 0; n >= 3 && request->by < PARTS; request->by++)
		if (strcmp(part, parts[request->by]) == 0)
			break;
	if (n < 3 || (n == 4 && !request->verbose) || request->by == PARTS ||
	    request->rank >= request->ranks)
		fail(EXIT_LWK,
		     ENV_SHARE
		     ": expected RANK/RANKS and sockets, ldoms, cores or threads, found \"%s\"; unset it",
		     text);
}

/* Reads the first number in the file, which 'form' and a CPU name; 'without' if there is none. */
static uint32_t read_number(const char *form, uint32_t cpu, uint32_t without)
{
	char path[128];
	uint32_t number;
	FILE *file;

	snprintf(path, sizeof(path), form, cpu);
	file = sys_open(path);
	if (!file)
		return without;
	if (fscanf(file, "%u", &number) != 1)
		number = without;
	fclose(file);
	return number;
}

static size_t find_cpus(struct placed_cpu placed[LWK_MAX_CPUS])
{
	struct session_cpu cpus[LWK_MAX_CPUS];
	size_t n = session_all_cpus(cpus);

	if (!n)
		fail(EXIT_LWK, "the LWK's CPUs cannot be read; try again");
	for (size_t i = 0; i < n; i++) {
		uint32_t number = cpus[i].number;

		placed[i] = (struct placed_cpu){ {
			[PART_SOCKET] = read_number(CPU "physical_package_id", number, 0),
			[PART_NODE] = cpus[i].node,
			/* The first thread of a core stands for the core. */
			[PART_CORE] = read_number(CPU "thread_siblings_list", number, number),
			[PART_CPU] = number,
		} };
	}
	divide_sort(placed, n);
	return n;
}

const struct numbers *cpu_share(void)
{
	static struct numbers share;
	struct placed_cpu cpus[LWK_MAX_CPUS];
	const char *text = getenv(ENV_SHARE);
	struct request request;
	size_t n, first;

	if (!text)
		return NULL;
	parse(text, &request);
	unsetenv(ENV_SHARE);
	first = divide(cpus, find_cpus(cpus), request.by, request.rank, request.ranks, &n);
	for (size_t i = first; i < first + n; i++)
		numbers_add(&share, cpus[i].in[PART_CPU]);
	if (request.verbose) {
		fprintf(stderr, "lwkexec: rank %u of %u on this node has the LWK's CPUs ",
			request.rank, request.ranks);
		numbers_print(stderr, &share);
		fputc('\n', stderr);
	}
	/* A rank that is alone leaves free CPUs to programs of other steps, as without a share. */
	return request.ranks > 1 ? &share : NULL;
}
