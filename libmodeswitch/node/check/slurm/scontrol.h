/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks Slurm for its settings, and reads the answers.
 */
#ifndef CHECK_SCONTROL_H
#define CHECK_SCONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "node/check/check.h"

/* Stores what scontrol answers in 'checking'; the caller frees it. */
void check_ask_slurm(struct checking *checking);

/*
 * The value of "KEY = VALUE" in the lines of "show config", or of "KEY=VALUE" among the words
 * of "show node"; "" when it is not there.
 */
const char *check_setting(const char *text, const char *key, char *value, size_t size);
/* The same as a number; 0 when it is not there, or none. */
unsigned long check_number(const char *text, const char *key);
/* Is 'word' one of the comma-separated ones, in upper or lower case? */
bool check_has_word(const char *list, const char *word);

#endif
