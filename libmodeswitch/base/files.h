/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes small files of the kernel.
 */
#ifndef FILES_H
#define FILES_H

#include <hwloc.h>
#include <stddef.h>
#include <stdint.h>

#include "modeswitch/error.h"

/* Prefix of every path of the kernel that the library reads or writes; only tests set it. */
extern const char *files_root;

/*
 * Reads a whole file of /sys or /proc into 'text', without its last newline and with a NUL. Returns
 * the length in bytes or a negative errno; -E2BIG when it does not fit.
 */
int kernel_read(char *text, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes the text to a file of /sys or /proc with one write(2). 0 or a negative errno. */
int kernel_write(const char *text, const char *path_format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Returns the number after "NAME:" in the text of a meminfo file, in bytes; 0 when it is missing.
 */
uint64_t meminfo_bytes(const char *meminfo, const char *name);
/* Reads a list of CPUs or nodes, such as /sys/devices/system/cpu/online. 0 or -1. */
int kernel_read_list(hwloc_bitmap_t list, const char *path);

#endif
