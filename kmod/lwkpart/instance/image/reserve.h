/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK kernel's own memory: the image and the shared areas. With rwsem held for writing. */
#ifndef LWKPART_RESERVE_H
#define LWKPART_RESERVE_H

#include "instance/instance.h"

/*
 * Puts an image into the partition's memory and sets the instance's shared areas, entry,
 * page_root and stacks. 'file' is a copy that user space cannot change. 0, or -ENOEXEC or
 * -ENOMEM after a message; then nothing is loaded, even if something was before.
 */
int reserve_fill(struct instance *instance, const void *file, u64 size);
/* Forgets the shared areas, so that their memory can go back to Linux. */
void reserve_forget(struct instance *instance);

#endif
