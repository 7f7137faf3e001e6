/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files of the kernel, and files that root may believe.
 */
#ifndef FILES_H
#define FILES_H

#include <hwloc.h>
#include <stddef.h>
#include <stdint.h>

#include "modeswitch/error.h"

/* Put before every path that kernel_read() and kernel_write() get; tests only. */
extern const char *files_root;

/*
 * Reads a file of /sys or /proc whole and takes the last newline off. Returns the length
 * or a negative errno; E2BIG when it does not fit.
 */
int kernel_read(char *text, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes it with one write(2). 0 or a negative errno. */
int kernel_write(const char *text, const char *path_format, ...)
	__attribute__((format(printf, 2, 3)));
/* The number after "NAME:" in /proc/meminfo or a node's, in bytes; 0 when not there. */
uint64_t meminfo_bytes(const char *meminfo, const char *name);
/* Reads a list of CPUs or nodes, such as /sys/devices/system/cpu/online. 0 or -1. */
int kernel_read_list(hwloc_bitmap_t list, const char *path);

/* Is the open file a regular one that belongs to root and that only root can write? */
int file_check_trusted(int fd, const char *path, struct ms_error *err);

#endif
