// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints TAP and counts the checks that failed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

unsigned int checks, failures;

bool check(bool passed, const char *format, ...)
{
	va_list arguments;

	printf("%s %u - ", passed ? "ok" : "not ok", ++checks);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	failures += !passed;
	return passed;
}

static const char *error_name(int error)
{
	return error ? strerror(error) : "success";
}

bool check_result(int got, int wanted, const char *what)
{
	bool passed = check(got == wanted, "%s: %s", what, error_name(wanted));

	if (!passed)
		printf("# got %s\n", error_name(got));
	return passed;
}

void bail_out(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}
