/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In place of the LWK's header. Of each 4 KB the fuzzers use the first word only, so of a large
 * page no more than that is cleared or copied.
 */
#ifndef FUZZ_LWK_STRING_H
#define FUZZ_LWK_STRING_H

#include <string.h>

void *fuzz_memset(void *to, int byte, size_t size);
void *fuzz_memcpy(void *to, const void *from, size_t size);

#define memset fuzz_memset
#define memcpy fuzz_memcpy

#endif
