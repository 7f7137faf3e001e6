/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs on which Linux serves each interrupt. An interrupt is named by its number in /proc/irq,
 * as text; CPUs by their numbers. A change of an interrupt is a JSON object: "irq", "name" (of its
 * device), "was" and "now" (lists of CPUs), and "driver" (true) if the driver has chosen "was".
 */
#ifndef AFFINITY_H
#define AFFINITY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>

/*
 * Adds to the array 'found' a change for each interrupt that a CPU outside 'cpus' may serve, with
 * 'cpus' as its "now". If CPUs outside may serve new interrupts, the first change has "default" for
 * its irq, and masks in place of lists.
 */
void interrupts_find_outside(hwloc_const_bitmap_t cpus, struct json_object *found);

/*
 * Adds to 'found' a change for each interrupt of a device that one of the CPUs 'from' may serve:
 * "now" is the CPUs of 'to' that are near the device, or all of 'to'.
 */
void interrupts_find_on(hwloc_const_bitmap_t from, hwloc_const_bitmap_t to,
			struct json_object *found);

/* Reads the CPUs that may serve an interrupt. 0, or -1 when there is no such interrupt. */
int interrupt_cpus(const char *irq, hwloc_bitmap_t cpus);

/* Returns true if a device uses the interrupt. */
bool interrupt_is_used(const char *irq);

/*
 * Sets 'near' to the CPUs of 'cpus' that are near the device; to all when none is or none is known.
 */
void interrupt_near(const char *irq, hwloc_const_bitmap_t cpus, hwloc_bitmap_t near);

/*
 * Returns true if the driver has chosen these CPUs. Some drivers (virtio_net) choose again whenever
 * CPUs go off-line or on-line. A switch causes that, so it does not count as somebody else's
 * choice.
 */
bool interrupt_is_drivers_choice(const char *irq, hwloc_const_bitmap_t now);

/*
 * Names the interrupts that one of these CPUs may serve and that nobody can move, because the
 * kernel manages them: "24 (virtio0-req.0), 25 (…)". Root.
 */
void interrupts_managed(hwloc_const_bitmap_t cpus, char *names, size_t size);

/* Gives an interrupt its CPUs "now". 0 or a negative errno; -EIO: the kernel manages it. */
int interrupt_set(struct json_object *interrupt);

/*
 * Gives an interrupt its CPUs "was" again, unless somebody else has set its CPUs since, or another
 * device has it now. 0 or a negative errno.
 */
int interrupt_restore(struct json_object *interrupt);

#endif
