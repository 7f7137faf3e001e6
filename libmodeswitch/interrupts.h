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

/* Gives one its CPUs "now". 0 or a negative errno; EIO: the kernel manages it. */
int interrupt_set(struct json_object *interrupt);

/* Gives one its CPUs "was" again, unless somebody else has set it meanwhile. */
int interrupt_restore(struct json_object *interrupt);

#endif
