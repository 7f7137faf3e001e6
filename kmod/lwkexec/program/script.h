/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts: files that name on their first line, after #!, the program that runs them. */
#ifndef LWKEXEC_SCRIPT_H
#define LWKEXEC_SCRIPT_H

/*
 * Reads the first line of the file. 1: the file is a script; *interpreter and *argument, which may
 * be NULL, are what the line says, and the caller frees them. 0: it is none. Or a negative errno as
 * execve(2) has it, after refuse(); 'name' is the file's in the message.
 */
int script_read(const char *name, int fd, char **interpreter, char **argument);
/*
 * The arguments of the program that runs the script 'path': the interpreter, its argument if there
 * is one, the path, and 'argv' without its first. The caller frees the array and keeps the strings.
 * NULL: out of memory.
 */
char **script_arguments(char *interpreter, char *argument, char *path, char **argv);

#endif
