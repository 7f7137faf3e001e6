/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_CPUSET_H
#define LWKPART_CPUSET_H

/*
 * Makes version 1 cpusets keep the CPUs and memory nodes that go off-line. Call it before
 * anything leaves Linux that a cpuset may name.
 */
void cpusets_keep_lent(void);

#endif
