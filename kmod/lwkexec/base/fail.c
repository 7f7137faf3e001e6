/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static __thread struct {
	int status;
	char text[1024];
} refusal;

void fail(int status, const char *format, ...)
{
	va_list args;

	fputs("lwkexec: error: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

int refuse(int error, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(refusal.text, sizeof(refusal.text), format, args);
	va_end(args);
	refusal.status = status;
	return -error;
}

void fail_refused(void)
{
	fail(refusal.status, "%s", refusal.text);
}
