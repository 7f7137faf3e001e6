/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included first by each source with mutants. */
#ifndef MUTANTS_H
#define MUTANTS_H

#include <stdbool.h>

/* Numbers begin with 1. Returns whether this mutant is in force. */
bool mutated(unsigned number);

#endif
