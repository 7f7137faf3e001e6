/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of an LWK kernel's own memory. Without lwkpart_mutex: these wait for CPUs and take 'life'. */
#ifndef LWKPART_DUMP_H
#define LWKPART_DUMP_H

#include "abi/control/dump.h"
#include "instance/instance.h"

/* LWKPART_DUMP_LAYOUT: 0, -ENODATA, -EINTR. */
int dump_layout(struct instance *instance, struct lwkpart_dump_layout *layout);
/* LWKPART_DUMP: 0, -ENODATA, -EINTR, -EFAULT, -ENOMEM. */
int dump_copy(struct instance *instance, struct lwkpart_dump *request);

#endif
