// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwk/base/string.h"

#include "lwk/base/types.h"

#undef memset
#undef memcpy

void *fuzz_memset(void *to, int byte, size_t size)
{
	if (size != LARGE_SIZE)
		return memset(to, byte, size);
	for (size_t at = 0; at < size; at += PAGE_SIZE)
		memset((u8 *)to + at, byte, sizeof(u64));
	return to;
}

void *fuzz_memcpy(void *to, const void *from, size_t size)
{
	if (size != LARGE_SIZE)
		return memcpy(to, from, size);
	for (size_t at = 0; at < size; at += PAGE_SIZE)
		memcpy((u8 *)to + at, (const u8 *)from + at, sizeof(u64));
	return to;
}
