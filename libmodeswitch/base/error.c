// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "modeswitch/error.h"

/* The length of the UTF-8 sequence at 'text', whose code point *c becomes; 0: it is no UTF-8. */
static size_t decode(const char *text, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = *text;
	size_t length = first < 0x80   ? 1
			: first < 0xc0 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
				       : 4;

	*c = length == 1 ? first : first & 0x7f >> length;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (text[i] & 0x3f);
	}
	return first < 0xf8 && *c >= least[length] && *c <= 0x10ffff && *c >> 11 != 0xd800 >> 11
		       ? length
		       : 0;
}

/* True for what steers a terminal, ends a line, or changes the direction of the text around it. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

void ms_make_printable(char *text)
{
	uint32_t c;

	while (*text) {
		size_t length = decode(text, &c);

		if (!length || is_control(c)) {
			length += !length;
			memset(text, '?', length);
		}
		text += length;
	}
}

int ms_fail(struct ms_error *err, const char *format, ...)
{
	char text[sizeof(err->text)]; /* an argument may be err->text itself */
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ms_make_printable(text);
	memcpy(err->text, text, sizeof(text));
	return -1;
}
