/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PARSE_H
#define PARSE_H

#include <hwloc.h>
#include <stdint.h>

/* The kernel's "ff,00000001": hexadecimal, a comma before each 32 bits. 0 or -1. */
int parse_mask(const char *text, hwloc_bitmap_t set);

#define FORMAT_SIZE 32
/* "448 MB"; exact, in the largest unit that has no fraction. Returns 'text'. */
const char *format_size(uint64_t bytes, char text[FORMAT_SIZE]);

#endif
