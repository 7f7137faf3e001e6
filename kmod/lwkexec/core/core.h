/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core file of a program that dies (core(5)): the LWK tells the proxy's thread that will get
 * LWK_CALL_EXIT of registers, mappings and pages, and the proxy sees the memory in its WINDOW.
 */
#ifndef LWKEXEC_CORE_H
#define LWKEXEC_CORE_H

#include <limits.h>
#include <stdint.h>

#include "abi/shared/calls.h"
#include "lwkexec/program/program.h"

/* LWK_CALL_CORE: 1 if the user wants a core file of a program that this signal ends. */
int64_t core_wanted(int signal);
/* LWK_CALL_CORE_THREAD and LWK_CALL_CORE_PAGES. 0 or -ENOMEM: that part will be missing. */
int64_t core_add_words(const uint64_t args[6]);
int64_t core_add_pages(uint64_t start, uint64_t end);

struct core_text {
	char text[PATH_MAX + 128];
};

/*
 * Writes the file if core_wanted() was true. 'text' gets what the user is told of it, to be put
 * behind the cause of the program's end, or "".
 */
void core_write(const struct program *program, int wait_status, const struct lwk_cause *cause,
		struct core_text *text);

#endif
