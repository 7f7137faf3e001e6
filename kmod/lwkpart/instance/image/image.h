/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_IMAGE_H
#define LWKPART_IMAGE_H

#include "instance/image/tables.h"
#include "instance/instance.h"

/* 0 when the file is an image that follows lwkshared.h, else -ENOEXEC with a message. */
int image_check(const void *file, u64 size);
/*
 * Copies the segments of a checked image into the reserve, maps them, and enters them in
 * instance->segments. 0, or -ENOEXEC with a message, or -ENOMEM when the reserve is full.
 */
int image_load(struct instance *instance, struct layout *layout, const void *file, u64 size);
/* The image's entry point. */
u64 image_entry(const void *file);

#endif
