/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the compiler expects to find, and strlen. */
#include "lwk.h"

void *memcpy(void *to, const void *from, size_t size)
{
	void *result = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
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
	void *result = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
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
