/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays of strings that end with NULL, as those of execve(2). */
#ifndef LWKEXEC_STRINGS_H
#define LWKEXEC_STRINGS_H

#include <stddef.h>

/* Returns the number of strings, without the NULL. */
static inline size_t strings_count(char *const *strings)
{
	size_t n = 0;

	while (strings[n])
		n++;
	return n;
}

#endif
