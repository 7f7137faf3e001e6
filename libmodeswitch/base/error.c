// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "modeswitch/error.h"

void ms_make_printable(char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			*text = '?';
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
