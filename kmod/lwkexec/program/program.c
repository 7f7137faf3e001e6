/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/shared/layout.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/program/script.h"

/*
 * Position-independent programs go below where Linux puts the proxy, which is one, and dynamic
 * linkers between mappings and the stack: where sanitizers expect them.
 */
#define PIE_BASE 0x550000000000UL
#define INTERPRETER_BASE (LWK_USER_END - (64UL << 30))
/* Linux lets as many scripts run each other (exec.c). */
#define MAX_SCRIPTS 5

char *program_find(const char *name)
{
	const char *path = getenv("PATH");
	char *copy, *next, *directory, *candidate = NULL;
	int error = ENOENT;

	if (!*name) {
		errno = ENOENT;
		return NULL;
	}
	if (strchr(name, '/'))
		return strdup(name);
	copy = next = strdup(path ? path : "/usr/bin:/bin");
	while (copy && (directory = strsep(&next, ":"))) {
		struct stat st;

		if (asprintf(&candidate, "%s/%s", *directory ? directory : ".", name) < 0)
			fail(EXIT_LWK, "out of memory");
		if (stat(candidate, &st) == 0 && S_ISREG(st.st_mode)) {
			if (faccessat(AT_FDCWD, candidate, X_OK, AT_EACCESS) == 0)
				break;
			error = EACCES;
		}
		free(candidate);
		candidate = NULL;
	}
	free(copy);
	errno = error;
	return candidate;
}

/*
 * Opens the file 'path', which the user wants to run, or the file 'wanted_by' if that is not NULL.
 * Returns a descriptor, or a negative errno after refuse().
 */
static int open_executable(const char *path, const char *wanted_by)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = errno;
	struct stat st;

	if (fd < 0 && (error == ENOENT || error == ENOTDIR)) {
		if (!wanted_by)
			return refuse(error, EXIT_NOT_FOUND, "%s: no such program; check the path",
				      path);
		return refuse(error, EXIT_NOT_FOUND,
			      "%s: wants to be run by %s: %s; install that, or name another",
			      wanted_by, path, strerror(error));
	}
	if (fd < 0)
		return refuse(error, EXIT_CANNOT_RUN,
			      "%s: cannot be read (%s); the LWK needs read permission to load it",
			      path, strerror(error));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return refuse(EACCES, EXIT_CANNOT_RUN,
			      "%s: expected a regular file, found another one; name a program",
			      path);
	}
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS)) {
		close(fd);
		return refuse(EACCES, EXIT_CANNOT_RUN, "%s: is not executable; chmod +x it", path);
	}
	return fd;
}

/* Opens the program 'path', or the program that runs it if it is a script. */
static int open_program(struct program *program, char *path)
{
	struct elf_file *elf = &program->elf;
	char *interpreter, *argument;
	const char *wanted_by = NULL;
	unsigned scripts = 0;
	int is_script;

	elf->fd = open_executable(path, NULL);
	if (elf->fd < 0)
		return elf->fd;
	while ((is_script = script_read(path, elf->fd, &interpreter, &argument)) > 0) {
		if (++scripts > MAX_SCRIPTS)
			return refuse(
				ELOOP, EXIT_CANNOT_RUN,
				"%s: expected at most %d scripts that run each other, found more (%s); name a program behind #!",
				program->name, MAX_SCRIPTS, strerror(ELOOP));
		program->argv = script_arguments(interpreter, argument, path, program->argv);
		if (!program->argv)
			return refuse(ENOMEM, EXIT_LWK, "out of memory");
		close(elf->fd);
		wanted_by = path;
		path = interpreter;
		elf->fd = open_executable(path, wanted_by);
		if (elf->fd < 0)
			return elf->fd;
	}
	if (is_script < 0)
		return is_script;
	elf->name = wanted_by ? path : program->name;
	program->path = realpath(path, NULL);
	if (!program->path)
		return refuse(errno, EXIT_CANNOT_RUN, "%s: cannot be read (%s)", program->name,
			      strerror(errno));
	return 0;
}

int program_open(struct program *program, const char *name, char *path, char **argv)
{
	struct elf_file *elf = &program->elf;
	char *interpreter = NULL, *another = NULL;
	int error;

	*program = (struct program){
		.name = name, .exec_path = path, .argv = argv, .elf.fd = -1, .interpreter.fd = -1
	};
	error = open_program(program, path);
	if (!error)
		error = elf_file_read(elf, PIE_BASE, &interpreter);
	if (error || !interpreter) {
		free(interpreter);
		return error;
	}
	elf = &program->interpreter;
	elf->name = interpreter;
	elf->fd = open_executable(interpreter, name);
	if (elf->fd < 0)
		return elf->fd;
	/* As on Linux, a dynamic linker that names another one is run all the same. */
	error = elf_file_read(elf, INTERPRETER_BASE, &another);
	free(another);
	return error == -ENOEXEC ? -ELIBBAD : error;
}

void program_close(struct program *program)
{
	elf_file_close(&program->elf);
	elf_file_close(&program->interpreter);
	free(program->path);
}
