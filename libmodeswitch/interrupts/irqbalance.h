/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks irqbalance(1) through its socket which CPUs and interrupts it leaves alone, and changes
 * that. Only a process of root counts as irqbalance.
 */
#ifndef IRQBALANCE_H
#define IRQBALANCE_H

#include <hwloc.h>
#include <stdbool.h>

#include "modeswitch/error.h"

/* Reads the CPUs on which it puts no interrupts. False: it does not run, or does not answer. */
bool irqbalance_banned(hwloc_bitmap_t cpus);

/* Tells irqbalance to leave exactly these CPUs alone. 0, also when it does not run; or -1. */
int irqbalance_ban(hwloc_const_bitmap_t cpus, struct ms_error *err);

/* Takes these CPUs from those that it leaves alone. 0 or -1 as above. */
int irqbalance_allow(hwloc_const_bitmap_t cpus, struct ms_error *err);

/* Do these three things for interrupts, by number: irqbalance leaves them where they are. */
bool irqbalance_banned_irqs(hwloc_bitmap_t irqs);
int irqbalance_ban_irqs(hwloc_const_bitmap_t irqs, struct ms_error *err);
int irqbalance_allow_irqs(hwloc_const_bitmap_t irqs, struct ms_error *err);

#endif
