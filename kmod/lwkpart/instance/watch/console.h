/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of console text, made printable. */
#ifndef LWKPART_CONSOLE_H
#define LWKPART_CONSOLE_H

#include "abi/control/kmsg.h"
#include "instance/instance.h"

/* LWKPART_KMSG and LWK_KMSG: 0 or -EFAULT. Takes rwsem. */
int console_copy(struct instance *instance, struct lwkpart_kmsg *request);
/* Copies text from *position on, and moves *position. Returns its length. With rwsem held. */
u32 console_read(const struct instance *instance, u64 *position, char *text, u32 size);

#endif
