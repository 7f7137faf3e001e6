/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All fuzzers use this header. Each defines LLVMFuzzerTestOneInput(), which takes one input and
 * must neither crash nor break an invariant.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the fuzzer, which then keeps its input, when an invariant does not hold. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fuzz_broken(#condition, __FILE__, __LINE__);                               \
	} while (0)
void fuzz_broken(const char *condition, const char *file, int line) __attribute__((noreturn));

/* The part of an input that nothing has used yet. */
struct input {
	const uint8_t *at;
	size_t left;
};

/* Take from the input's start; bytes behind its end are 0. */
uint8_t take_byte(struct input *input);
uint64_t take_number(struct input *input, size_t bytes);
void take_bytes(struct input *input, void *to, size_t size);
/*
 * Takes a text up to the next NUL, or the rest; valid until the next call. A text is cut off at
 * 64 KB, more than any program takes as an argument.
 */
const char *take_text(struct input *input);

#endif
