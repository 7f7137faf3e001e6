/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the Linux side of a job runs that has lent all of its CPUs (LinuxCpus=0). */
#ifndef JOB_CONTAINER_OS_CORES_H
#define JOB_CONTAINER_OS_CORES_H

#include <stdint.h>

/*
 * Puts the calling process on the OS cores, and with them the job's and the step's
 * cpusets: Linux lets the processes of a cpuset that has no CPU on-line use every CPU
 * of the node, other jobs' included. Root, after the process is in its step's
 * cgroups. Does nothing, and succeeds, for a job that has a CPU with Linux or is not
 * in LWK mode. -1 after a message.
 */
int os_cores_enter(uint32_t job_id);

#endif
