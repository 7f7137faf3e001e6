/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which CPUs Linux serves its interrupts.
 */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <json-c/json.h>

#include "modeswitch.h"

/*
 * Finds the interrupts that other CPUs than these may serve, and adds to the array 'found' for
 * each: "irq", "name", "was" (a list of CPUs), "now". The first has the irq "default": what new
 * interrupts get.
 */
void interrupts_find(hwloc_const_bitmap_t cpus, struct json_object *found);

/*
 * Finds the interrupts that one of the CPUs 'from' may serve, and adds to 'found' likewise: "now" is
 * those of 'to' that are near the device, or all of 'to'.
 */
void interrupts_of(hwloc_const_bitmap_t from, hwloc_const_bitmap_t to, struct json_object *found);

/*
 * Names the interrupts that one of these CPUs may serve and that nobody can move, because the
 * kernel manages them: "24 (virtio0-req.0), 25 (…)". Root.
 */
void interrupts_managed(hwloc_const_bitmap_t cpus, char *names, size_t size);

/* Gives one its CPUs "now". 0 or a negative errno; EIO: the kernel manages it. */
int interrupt_set(struct json_object *interrupt);

/*
 * Gives one its CPUs "was" again, unless somebody else has set it meanwhile, or it is
 * another device's by now.
 */
int interrupt_restore(struct json_object *interrupt);

#endif
