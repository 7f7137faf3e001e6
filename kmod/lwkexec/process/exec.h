/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execve(2) of an LWK process: the proxy executes itself again for the other program, so that Linux
 * keeps of the process exactly what it keeps in an exec. The open file of the instance stays, and
 * with it the LWK CPU (LWK_PROC_AGAIN). The environment is the program's, so the new lwkexec learns
 * everything else from its arguments.
 */
#ifndef LWKEXEC_EXEC_H
#define LWKEXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* The state that the former lwkexec hands to the new one. */
struct resume {
	char *path;
	char **argv;
	const char *report; /* report_text(); "": none */
	int device;
	uint32_t serve;
	bool no_stack_limit;
	uint64_t blocked, ignored; /* signals */
	int report_file;
	struct rlimit address_space;
};

/* LWK_CALL_EXEC: a negative errno, if it returns. */
int64_t exec_program(const uint64_t args[6]);
/* True when the arguments are those of an lwkexec that exec_program() has started. */
bool exec_resumes(int argc, char **argv, struct resume *resume);

#endif
