/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which CPUs Linux serves its interrupts.
 */
#ifndef AFFINITY_H
#define AFFINITY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>

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

/* The CPUs that may serve it. 0 or -1: there is no such interrupt. */
int interrupt_cpus(const char *irq, hwloc_bitmap_t cpus);

/* Does a device use it? */
bool interrupt_is_used(const char *irq);

/* Of these CPUs those near the device; all if none is, or nobody knows where it is. */
void interrupt_near(const char *irq, hwloc_const_bitmap_t cpus, hwloc_bitmap_t near);

/*
 * Has the driver chosen these CPUs? Some (virtio_net for one) choose anew whenever some come or go.
 * That is a switch's own doing, and nobody's will.
 */
bool interrupt_is_drivers_choice(const char *irq, hwloc_const_bitmap_t now);

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
