/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides CPUs among ranks, so that each has its own and parts of the machine stay together. */
#ifndef LWKEXEC_DIVIDE_H
#define LWKEXEC_DIVIDE_H

#include <stddef.h>
#include <stdint.h>

enum part { PART_SOCKET, PART_NODE, PART_CORE, PART_CPU, PARTS };

/* A CPU: the numbers of the parts that it is in, and its own. */
struct placed_cpu {
	uint32_t in[PARTS];
};

/* Sorts the CPUs as divide() expects them. */
void divide_sort(struct placed_cpu *cpus, size_t n);
/*
 * Returns the first of the *share CPUs, one behind the other, that rank 'rank' of 'ranks' gets of these
 * n. It gets whole sockets, NUMA nodes, cores or CPUs, as many as the others, give or take one. Ranks that
 * are more than there are sockets or nodes divide the cores of one, ranks that are more than
 * the cores the CPUs of one, and ranks that are more than the CPUs have one CPU together. rank < ranks.
 */
size_t divide(const struct placed_cpu *cpus, size_t n, enum part by, uint32_t rank, uint32_t ranks,
	      size_t *share);

#endif
