/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of the status area. */
#ifndef LWKPART_USAGE_H
#define LWKPART_USAGE_H

#include "abi/device/watch.h"
#include "instance/instance.h"

/* LWK_GET_USAGE: 0, -ENODATA, -ENOSPC, -EFAULT, -ENOMEM. Takes rwsem. */
int usage_copy(struct instance *instance, struct lwk_usage *request);
/*
 * Copies one group of the status area, which begins with its sequence count. When the LWK does
 * not leave the group alone, the copy has an odd count and zeros.
 */
void usage_copy_group(void *to, const void *from, size_t size);

#endif
