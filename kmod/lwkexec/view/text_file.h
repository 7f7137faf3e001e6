/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files for the LWK process whose text the proxy makes, in the place of Linux's. */
#ifndef LWKEXEC_TEXT_FILE_H
#define LWKEXEC_TEXT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A file with this text, for a program that has called open(2) with these flags. Returns a
 * descriptor or a negative errno.
 */
int64_t text_file(const char *text, size_t length, int flags);
/* Does text_file() with the text that 'print' prints. */
int64_t text_file_printed(void (*print)(FILE *), int flags);

#endif
