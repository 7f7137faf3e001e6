/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqbalance(1), as far as it is running: asked and told through its socket. Only a process of
 * root's is believed to be one.
 */
#ifndef IRQBALANCE_H
#define IRQBALANCE_H

#include <hwloc.h>
#include <stdbool.h>

#include "modeswitch/error.h"

/* On which CPUs it puts no interrupts. False: it does not run, or does not answer. */
bool irqbalance_banned(hwloc_bitmap_t cpus);

/* These it shall leave alone, and no others. 0, also when it does not run; or -1. */
int irqbalance_ban(hwloc_const_bitmap_t cpus, struct ms_error *err);

/* These it shall no longer leave alone; what else it leaves alone stays so. As above. */
int irqbalance_allow(hwloc_const_bitmap_t cpus, struct ms_error *err);

/* The same of interrupts, by number, which it leaves where they are. */
bool irqbalance_banned_irqs(hwloc_bitmap_t irqs);
int irqbalance_ban_irqs(hwloc_const_bitmap_t irqs, struct ms_error *err);
int irqbalance_allow_irqs(hwloc_const_bitmap_t irqs, struct ms_error *err);

#endif
