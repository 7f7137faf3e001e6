/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of string.h that the LWK or its compiler calls. */
#ifndef LWK_BASE_STRING_H
#define LWK_BASE_STRING_H

#include "lwk/base/types.h"

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);

#endif
