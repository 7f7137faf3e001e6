/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The share of the LWK's CPUs that belongs to a rank of a step with srun --cpu-bind. */
#ifndef LWKEXEC_CPU_SHARE_H
#define LWKEXEC_CPU_SHARE_H

#include "lwkexec/base/numbers.h"

/*
 * Returns the CPUs that the program shall have by the variable LWK_SHARE, which goes from the environment,
 * or NULL if it shall have those that a process has by default. Fails the proxy when the
 * variable is damaged. The session is open.
 */
const struct numbers *cpu_share(void);

#endif
