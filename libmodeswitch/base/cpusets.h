/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the cpusets of cgroup version 2 from waiting for processes when CPUs go or come. */
#ifndef CPUSETS_H
#define CPUSETS_H

#include <sys/types.h>

/*
 * Names all NUMA nodes that the machine can have in each cpuset of cgroup version 2 that names none.
 * An empty cpuset has the nodes of the one that it is in, so it has the same afterwards, and nobody
 * waits. But when a CPU goes off-line or comes on-line, Linux 5.10 to 6.12
 * (cpuset_hotplug_update_tasks() in kernel/cgroup/cpuset.c) takes an empty one's nodes for changed
 * and waits for the lock of the memory map of each process in it, which the process can keep for as
 * long as it likes.
 *
 * Linux lets nobody empty a cpuset that has processes. A cgroup that is made later is empty. Returns
 * 0, also when the node does not use version 2 for cpusets, or the first negative errno after all
 * have been tried: -ELOOP when cgroups are more than 64 below each other.
 */
int cpusets_name_nodes(void);

/* Names them in the cgroup of a process and those below it. Returns 0 also when the process is gone. */
int cpusets_name_nodes_of(pid_t pid);

#endif
