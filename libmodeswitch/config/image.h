/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of an LWK image.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

/*
 * Reads the file and makes sure that it is a kernel for this machine that only root can have
 * put there. Free 'data' with free().
 */
int image_read(const struct ms_image *image, void **data, size_t *size, struct ms_error *err);

/* Is that an ELF program for x86-64 with all its parts? */
int image_check_elf(const void *data, size_t size, const char *path, struct ms_error *err);

#endif
