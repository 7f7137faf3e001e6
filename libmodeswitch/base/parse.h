/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes masks and sizes; modeswitch/config.h has the public readers. */
#ifndef PARSE_H
#define PARSE_H

#include <hwloc.h>
#include <stdint.h>

/* Reads a mask as the kernel writes it, "ff,00000001": hexadecimal words of 32 bits. 0 or -1. */
int parse_mask(const char *text, hwloc_bitmap_t set);

#define FORMAT_SIZE 32
/* Writes "448 MB", exact, in the largest unit that needs no fraction. Returns 'text'. */
const char *format_size(uint64_t bytes, char text[FORMAT_SIZE]);

#endif
