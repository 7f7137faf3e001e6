// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_broken(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: expected %s, found that it does not hold\n", file, line, condition);
	abort();
}

void take_bytes(struct input *input, void *to, size_t size)
{
	size_t there = size < input->left ? size : input->left;

	memset(to, 0, size);
	if (there)
		memcpy(to, input->at, there);
	input->at += there;
	input->left -= there;
}

uint64_t take_number(struct input *input, size_t bytes)
{
	uint64_t number = 0;

	take_bytes(input, &number, bytes);
	return number;
}

uint8_t take_byte(struct input *input)
{
	return take_number(input, 1);
}

const char *take_text(struct input *input)
{
	static char *text;
	size_t length = strnlen((const char *)input->at, input->left < 65535 ? input->left : 65535);

	/* Each text has memory of its own size, so that reading behind its end is seen. */
	free(text);
	text = calloc(1, length + 1);
	take_bytes(input, text, length);
	if (input->left && !*input->at)
		take_byte(input);
	return text;
}
