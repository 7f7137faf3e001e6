/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the Linux side of a job that has lent all of its CPUs (LinuxCpus=0) on the OS cores. */
#ifndef JOB_CONTAINER_OS_CORES_H
#define JOB_CONTAINER_OS_CORES_H

#include <stdint.h>

/*
 * Puts the calling process on the OS cores, and adds these to the job's and the step's cpusets:
 * Linux lets the processes of a cpuset that has no CPU on-line use every CPU of the node, other
 * jobs' included. Root, after the process is in its step's cgroups. Does nothing for a job that
 * has a CPU with Linux or is not in LWK mode. 0, or -1 after a message.
 */
int os_cores_enter(uint32_t job_id);

#endif
