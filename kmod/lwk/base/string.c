/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/base/string.h"

void *memcpy(void *to, const void *from, size_t size)
{
	void *result = to;
	size_t words = size / 8, rest = size % 8;

	/* Words are faster than bytes on some CPUs and emulators. */
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest)::"memory");
	return result;
}

void *memmove(void *to, const void *from, size_t size)
{
	if ((u64)to - (u64)from >= size)
		return memcpy(to, from, size);
	for (u8 *t = (u8 *)to + size, *f = (u8 *)from + size; size; size--)
		*--t = *--f;
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	u64 pattern = (u8)byte * 0x0101010101010101UL;
	size_t words = size / 8, rest = size % 8;
	void *result = to;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(pattern) : "memory");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(rest) : "a"(pattern) : "memory");
	return result;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const u8 *x = a, *y = b;

	for (; size; size--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}
