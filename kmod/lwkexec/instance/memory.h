/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The use of the LWK's memory, from its status area. */
#ifndef LWKEXEC_MEMORY_H
#define LWKEXEC_MEMORY_H

#include <stdint.h>

#include "abi/shared/statistics.h"

/* Counts of the LWK process that this proxy stands for. */
const struct lwk_cpu_memory *memory_of_process(void);
/* Bytes that the LWK process of this proxy has. */
uint64_t memory_resident(void);
/* Bytes that all processes of the instance have. */
uint64_t memory_used(void);
/* Bytes that all processes have of a NUMA node, below LWK_STATUS_NODES - 1. */
uint64_t memory_used_on(unsigned node);
/* Bytes of the reserve that the LWK's kernel has taken. */
uint64_t memory_kernel_used(void);

#endif
