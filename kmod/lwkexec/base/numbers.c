/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/base/numbers.h"

void numbers_print(FILE *out, const struct numbers *set)
{
	const char *separator = "";

	for (size_t first = 0, next; first < NUMBERS; first = next + 1) {
		for (next = first; next < NUMBERS && numbers_have(set, next); next++)
			;
		if (next > first)
			fprintf(out, next > first + 1 ? "%s%zu-%zu" : "%s%zu", separator, first,
				next - 1);
		if (next > first)
			separator = ",";
	}
}
