/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files in memory for the library to read, in a directory that a fuzzer's process makes for itself.
 */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <stddef.h>

/* The directory; it is also the library's state directory and the root of the kernel's files. */
const char *files_directory(void);
/* Makes NAME there, and the directories above it, have that content. */
void files_put(const char *name, const void *data, size_t size);

#endif
