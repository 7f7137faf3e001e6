/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks Slurm for its settings, and reads the answers.
 */
#ifndef CHECK_SCONTROL_H
#define CHECK_SCONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/check/check.h"

extern const char *scontrol_path, *squeue_path; /* SCONTROL_PATH, SQUEUE_PATH; tests change them */

/* Stores the answers of scontrol in 'checking'; the caller frees them. */
void check_ask_slurm(struct checking *checking);

/* True when slurmctld says that the job is over, or that it knows no such job (any more). */
bool check_job_is_over(uint32_t job_id);

/* Drains this node with the reason; false: scontrol failed. */
bool check_drain_node(const char *reason);

/*
 * Finds the value of "KEY = VALUE" in the lines of "show config", or of "KEY=VALUE" among the words
 * of "show node"; "" when it is not there.
 */
const char *check_setting(const char *text, const char *key, char *value, size_t size);
/* The value as a number; 0 when there is no such value, or it is no number. */
unsigned long check_number(const char *text, const char *key);
/* True when the comma-separated list has this word, in upper or lower case. */
bool check_has_word(const char *list, const char *word);

#endif
