/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and checks the file of an LWK image.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

/*
 * Reads the file and checks that it is a kernel for this machine and that only root could have put
 * it there. The caller frees *data with free(). 0 or -1.
 */
int image_read(const struct ms_image *image, void **data, size_t *size, struct ms_error *err);

/* Checks that the data are an ELF program for x86-64 with all its parts. 0 or -1. */
int image_check_elf(const void *data, size_t size, const char *path, struct ms_error *err);

#endif
