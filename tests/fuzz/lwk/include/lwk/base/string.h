/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In place of the LWK's header. Of each 4 KB the fuzzers use the first word only, so of a large page
 * no more than that is cleared or copied.
 */
#ifndef FUZZ_LWK_STRING_H
#define FUZZ_LWK_STRING_H

#include <string.h>

void *memory_clear(void *to, int byte, size_t size);
void *memory_copy(void *to, const void *from, size_t size);

#define memset memory_clear
#define memcpy memory_copy

#endif
