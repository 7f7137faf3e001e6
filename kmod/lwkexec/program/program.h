/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program to run: where it is, and which files are loaded for it. */
#ifndef LWKEXEC_PROGRAM_H
#define LWKEXEC_PROGRAM_H

#include "lwkexec/program/elf_file.h"

struct program {
	const char *name; /* as the user gave it */
	char *exec_path;  /* where it was found */
	char *path;	  /* absolute; of a script: of the program that runs it */
	char **argv;	  /* with the arguments that the first line of a script adds */
	struct elf_file elf;
	/* The dynamic linker (PT_INTERP); n_segments 0: the program is static. */
	struct elf_file interpreter;
};

/* The path that execvp(3) would run; the caller frees it. NULL with errno: there is none. */
char *program_find(const char *name);
/*
 * Reads the headers of the files that are loaded to run 'path', which may be a script, with 'argv'.
 * Messages call it 'name'. The strings must stay. Returns 0, or a negative errno as execve(2) has
 * it, after refuse(). program_close() in any case.
 */
int program_open(struct program *program, const char *name, char *path, char **argv);
/* Closes the files; the arguments that scripts have added stay. */
void program_close(struct program *program);

#endif
