/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This header stands for the LWK's. The fuzzers use only the first word of each 4 KB, so no more of
 * a large page is cleared or copied.
 */
#ifndef FUZZ_LWK_STRING_H
#define FUZZ_LWK_STRING_H

#include <string.h>

void *fuzz_memset(void *to, int byte, size_t size);
void *fuzz_memcpy(void *to, const void *from, size_t size);

#define memset fuzz_memset
#define memcpy fuzz_memcpy

#endif
