/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers of the unit tests: a directory for each test, its files, and assertions. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "modeswitch/error.h"
#include "store/state.h"

/* Each test has a directory of its own, which is also the state directory. */
extern char unit_dir[64];
int unit_setup(void **state);
int unit_teardown(void **state);
/* Set up a test whose directory also stands for the root of the kernel's files. */
int unit_setup_root(void **state);
int unit_teardown_root(void **state);

/* Writes a file below unit_dir, and the directories above it. Returns its whole path. */
const char *unit_file(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Returns the content of a file below unit_dir; "" without the file. Valid until the next call.
 */
const char *unit_read(const char *name);
bool unit_exists(const char *name);

/* Runs work() in a new process. Returns 0; 1: work() failed; or the exit status of the process. */
int unit_in_child(int (*work)(struct ms_error *err));

#define assert_has(text, part)                                                                     \
	do {                                                                                       \
		if (!strstr(text, part))                                                           \
			fail_msg("expected \"%s\" in: %s", part, text);                            \
	} while (0)

#endif
