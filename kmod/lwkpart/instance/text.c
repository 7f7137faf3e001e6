// SPDX-License-Identifier: GPL-2.0-or-later
#include "instance/text.h"

#include <linux/compiler.h>
#include <linux/ctype.h>

void copy_lwk_text(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1; i++) {
		char c = READ_ONCE(from[i]);

		if (!c)
			break;
		to[i] = isascii(c) && isprint(c) ? c : '?';
	}
	to[i] = 0;
}
