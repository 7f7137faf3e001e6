/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts between Linux and an LWK, in both directions. */
#ifndef LWKPART_DOORBELL_H
#define LWKPART_DOORBELL_H

#include "instance/instance.h"

int doorbell_init(void);
void doorbell_exit(void);
/*
 * Makes the interrupts of a LOADED instance and fills in params->cpus[].doorbell_*. 0, or a
 * negative error after a message.
 */
int doorbell_connect(struct instance *instance);
void doorbell_disconnect(struct instance *instance);
/* Returns the index of the LWK CPU that runs a slot, or gets it next. Any context. */
unsigned int doorbell_cpu(const struct instance *instance, unsigned int slot);
/* Interrupts that CPU. Any context. */
void doorbell_ring(struct instance *instance, unsigned int slot);

#endif
