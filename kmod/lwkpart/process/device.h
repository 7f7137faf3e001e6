/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device files /dev/lwk/N. */
#ifndef LWKPART_DEVICE_H
#define LWKPART_DEVICE_H

#include "instance/instance.h"

int instance_devices_init(void);
void instance_devices_exit(void);
/* Makes /dev/lwk/N, owned by instance->uid: 0 or a negative error. */
int instance_device_create(struct instance *instance);
/* Removes it. Open files keep the instance's structure until they are closed. */
void instance_device_destroy(struct instance *instance);

#endif
