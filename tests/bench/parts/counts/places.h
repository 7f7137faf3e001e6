/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the instructions of each place of the code, by CPU and address. */
#ifndef COUNTS_PLACES_H
#define COUNTS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* From now on places are counted, and places_write() writes to that file. False: no memory. */
bool places_open(const char *path);
bool places_wanted(void);
/* Forgets what was counted. */
void places_begin(void);
/* Counts an instruction, if places are counted. */
void places_note(unsigned vcpu, uint64_t at);
/* Writes a line "CPU ADDRESS N" for each place. */
void places_write(void);

#endif
