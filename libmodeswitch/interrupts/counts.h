/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts how often device interrupts come to CPUs; modeswitch/interrupts.h has the single counts.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <hwloc.h>

#include "modeswitch/job.h"

/*
 * The least, the most and the mean of device interrupts per second since boot among these CPUs.
 * CPUs that are off-line count as 0; all is 0 when /proc/interrupts cannot be read.
 */
void interrupts_measure(hwloc_const_bitmap_t cpus, struct ms_irq_spread *spread);

#endif
