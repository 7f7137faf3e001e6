/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts a program into the LWK process's memory and starts it. */
#ifndef LWKEXEC_LOAD_H
#define LWKEXEC_LOAD_H

#include <stdint.h>

#include "lwkexec/base/numbers.h"
#include "lwkexec/program/program.h"

/*
 * Loads the program, with its arguments and the environment, and starts it with these signals
 * blocked and ignored (bit s-1: signal s), on these CPUs, or with NULL on those that a process has
 * by default. Closes the program's files. Fails the proxy on any error.
 */
void load_and_start(const struct program *program, char **envp, uint64_t blocked, uint64_t ignored,
		    const struct numbers *cpus);

#endif
