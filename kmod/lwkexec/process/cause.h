/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message to the user when the LWK has ended a program. */
#ifndef LWKEXEC_CAUSE_H
#define LWKEXEC_CAUSE_H

#include "abi/shared/calls.h"

/* Must be called when a program begins: notes its standard error. */
void cause_init(void);
/*
 * Prints the cause on standard error, and behind it what became of the core file. Prints nothing
 * with LWK_CAUSE_NONE and an empty 'core'; 'wait_status' is the program's.
 * A program that has closed its standard error may have another file there, which gets nothing.
 */
void cause_tell(const char *program, int wait_status, const struct lwk_cause *cause,
		const char *core);

#endif
