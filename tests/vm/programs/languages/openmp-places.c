/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the CPUs that the program may use, and those on which OpenMP's threads run, one for each thread:
 * "CPUs 1,2, threads on 1,2".
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

static void print_list(const char *name, const cpu_set_t *set)
{
	const char *separator = " ";

	printf("%s", name);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set)) {
			printf("%s%d", separator, i);
			separator = ",";
		}
}

int main(void)
{
	cpu_set_t may, used;

	/* The runtime has bound this thread already. */
	CPU_ZERO(&may);
	CPU_ZERO(&used);
	if (sched_getaffinity(0, sizeof(may), &may))
		return 2;
	for (int place = 0; place < omp_get_num_places(); place++) {
		int cpus[CPU_SETSIZE];

		omp_get_place_proc_ids(place, cpus);
		for (int i = 0; i < omp_get_place_num_procs(place); i++)
			CPU_SET(cpus[i], &may);
	}
#pragma omp parallel
	{
		int cpu = sched_getcpu();

#pragma omp critical
		if (cpu >= 0)
			CPU_SET(cpu, &used);
	}
	print_list("CPUs", &may);
	print_list(", threads on", &used);
	printf("\n");
	return 0;
}
