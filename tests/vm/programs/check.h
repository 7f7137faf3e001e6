/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CHECK() for tests, and running the tests of a program by their names. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Ends the calling test, which returns int, when the condition does not hold. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: wrong: %s (errno %d)\n", __FILE__, __LINE__, #condition,    \
			       errno);                                                             \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

struct test {
	const char *name;
	int (*test)(void);
};

#define RUN_TESTS(tests, only) run_tests(tests, sizeof(tests) / sizeof((tests)[0]), only)

/*
 * Runs the tests up to the first that fails, or just the one named 'only' (NULL: all), and prints
 * for each whether it is right or wrong. Returns the exit status.
 */
static inline int run_tests(const struct test *tests, size_t n, const char *only)
{
	int ran = 0;

	for (size_t i = 0; i < n; i++) {
		int wrong;

		if (only && strcmp(only, tests[i].name) != 0)
			continue;
		ran++;
		wrong = tests[i].test();
		printf("%s: %s\n", tests[i].name, wrong ? "wrong" : "right");
		fflush(stdout);
		if (wrong)
			return 1;
	}
	/* A name that is mistyped is no test that passes. */
	return !ran;
}

#endif
