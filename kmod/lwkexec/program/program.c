/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the program and checks that it can run on the LWK. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

/* Where a position-independent program and a dynamic linker go: far from both ends. */
#define PIE_BASE 0x200000000000UL
#define INTERPRETER_BASE 0x300000000000UL
#define PAGE 4096UL
#define MAX_HEADERS 128
/* As Linux: what it reads of a script, and how many may run each other (binfmt_script.c, exec.c). */
#define SCRIPT_LINE 256
#define MAX_SCRIPTS 5

/* Why program_open() failed, in words, and what lwkexec then ends with. */
static __thread struct {
	int status;
	char text[1024];
} refusal;

static int refuse(int error, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int refuse(int error, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(refusal.text, sizeof(refusal.text), format, args);
	va_end(args);
	refusal.status = status;
	return -error;
}

void program_fail(void)
{
	fail(refusal.status, "%s", refusal.text);
}

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

/* As those below: 0, or what execve(2) fails with, and refuse() has been called. */
static int add_segment(struct elf_file *elf, const GElf_Phdr *header)
{
	struct segment *segment = &elf->segments[elf->n_segments];
	uint64_t start = elf->bias + header->p_vaddr, end;

	if (!header->p_memsz)
		return 0;
	if (header->p_filesz > header->p_memsz ||
	    __builtin_add_overflow(start, header->p_memsz, &end) || start < LWK_USER_START ||
	    end > LWK_USER_END || header->p_vaddr >= LWK_USER_END)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: a segment at 0x%llx of 0x%llx bytes is not in the LWK's range 0x%llx-0x%llx; link it without special addresses",
			elf->name, (unsigned long long)start, (unsigned long long)header->p_memsz,
			(unsigned long long)LWK_USER_START, (unsigned long long)LWK_USER_END);
	*segment = (struct segment){
		.start = start & ~(PAGE - 1),
		.end = (end + PAGE - 1) & ~(PAGE - 1),
		.data = start,
		.offset = header->p_offset,
		.size = header->p_filesz,
		.prot = (header->p_flags & PF_R ? PROT_READ : 0) |
			(header->p_flags & PF_W ? PROT_WRITE : 0) |
			(header->p_flags & PF_X ? PROT_EXEC : 0),
	};
	if (header->p_offset <= elf->headers &&
	    elf->headers - header->p_offset < header->p_filesz && !elf->entry)
		elf->entry = start - header->p_offset; /* for now: address of file offset 0 */
	if (end > elf->end)
		elf->end = end;
	elf->n_segments++;
	return 0;
}

static bool in_a_segment(const struct elf_file *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->n_segments; i++)
		if (address >= elf->segments[i].start && address < elf->segments[i].end)
			return true;
	return false;
}

static int check_header(const char *name, Elf *elf, const GElf_Ehdr *ehdr)
{
	if (gelf_getclass(elf) != ELFCLASS64 || ehdr->e_machine != EM_X86_64)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: is for ELF machine %d (%s-bit); compile it for this node's x86-64",
			name, ehdr->e_machine, gelf_getclass(elf) == ELFCLASS64 ? "64" : "32");
	if (ehdr->e_phentsize != sizeof(Elf64_Phdr))
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: its program headers have %d bytes each, not the %zu of ELF; link it anew",
			name, ehdr->e_phentsize, sizeof(Elf64_Phdr));
	if (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN)
		return refuse(ENOEXEC, EXIT_CANNOT_RUN,
			      "%s: is no executable (ELF type %d); link it", name, ehdr->e_type);
	return 0;
}

/* The path in a PT_INTERP header, which is the caller's to free. */
static int read_interpreter(const struct elf_file *elf, const GElf_Phdr *header, char **path)
{
	if (header->p_filesz < 2 || header->p_filesz > PATH_MAX)
		return refuse(ENOEXEC, EXIT_CANNOT_RUN,
			      "%s: the name of its dynamic linker has 0x%llx bytes; link it anew",
			      elf->name, (unsigned long long)header->p_filesz);
	*path = malloc(header->p_filesz);
	if (!*path)
		return refuse(ENOMEM, EXIT_LWK, "out of memory");
	if (pread(elf->fd, *path, header->p_filesz, header->p_offset) !=
		    (ssize_t)header->p_filesz ||
	    (*path)[header->p_filesz - 1] != '\0')
		return refuse(
			EIO, EXIT_CANNOT_RUN,
			"%s: the name of its dynamic linker cannot be read; is the file truncated?",
			elf->name);
	return 0;
}

static int read_header(struct elf_file *file, const GElf_Phdr *header, char **interpreter)
{
	if (header->p_type == PT_INTERP && !*interpreter)
		return read_interpreter(file, header, interpreter);
	return header->p_type == PT_LOAD ? add_segment(file, header) : 0;
}

/*
 * Reads the headers of a file; a position-independent one shall go to 'base'. *interpreter becomes
 * the dynamic linker that it asks for, if any; the caller frees it, also after an error.
 */
static int read_headers(struct elf_file *file, Elf *elf, uint64_t base, char **interpreter)
{
	GElf_Ehdr ehdr;
	size_t n;
	int error;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: is neither an ELF program nor a script (#!); the LWK runs what Linux runs on x86-64",
			file->name);
	error = check_header(file->name, elf, &ehdr);
	if (error)
		return error;
	if (elf_getphdrnum(elf, &n) || n == 0 || n > MAX_HEADERS)
		return refuse(ENOEXEC, EXIT_CANNOT_RUN,
			      "%s: its program headers cannot be read; is the file truncated?",
			      file->name);

	file->bias = ehdr.e_type == ET_DYN ? base : 0;
	file->headers = ehdr.e_phoff;
	file->n_headers = n;
	file->header_size = ehdr.e_phentsize;
	file->segments = calloc(n, sizeof(*file->segments));
	if (!file->segments)
		return refuse(ENOMEM, EXIT_LWK, "out of memory");
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, i, &header))
			return refuse(
				ENOEXEC, EXIT_CANNOT_RUN,
				"%s: program header %zu cannot be read; is the file truncated?",
				file->name, i);
		error = read_header(file, &header, interpreter);
		if (error)
			return error;
	}
	if (!file->n_segments || !file->entry)
		return refuse(ENOEXEC, EXIT_CANNOT_RUN, "%s: has nothing to load; is it a program?",
			      file->name);
	file->headers += file->entry;
	file->entry = file->bias + ehdr.e_entry;
	if (!in_a_segment(file, file->entry))
		return refuse(ENOEXEC, EXIT_CANNOT_RUN,
			      "%s: its entry point 0x%llx is in none of its segments", file->name,
			      (unsigned long long)file->entry);
	return 0;
}

static int load_headers(struct elf_file *file, uint64_t base, char **interpreter)
{
	Elf *handle;
	int error;

	elf_version(EV_CURRENT);
	handle = elf_begin(file->fd, ELF_C_READ, NULL);
	error = read_headers(file, handle, base, interpreter);
	elf_end(handle);
	return error;
}

/*
 * Opens what shall be run, because the user says so (NULL) or the file 'user' does. A descriptor, or
 * a negative errno.
 */
static int open_executable(const char *path, const char *user)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = errno;
	struct stat st;

	if (fd < 0 && (error == ENOENT || error == ENOTDIR)) {
		if (!user)
			return refuse(error, EXIT_NOT_FOUND, "%s: no such program; check the path",
				      path);
		return refuse(error, EXIT_NOT_FOUND,
			      "%s: wants to be run by %s: %s; install that, or name another", user,
			      path, strerror(error));
	}
	if (fd < 0)
		return refuse(error, EXIT_CANNOT_RUN,
			      "%s: cannot be read (%s); the LWK needs read permission to load it",
			      path, strerror(error));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return refuse(EACCES, EXIT_CANNOT_RUN, "%s: is no regular file; name a program",
			      path);
	}
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS)) {
		close(fd);
		return refuse(EACCES, EXIT_CANNOT_RUN, "%s: is not executable; chmod +x it", path);
	}
	return fd;
}

/*
 * Is it a script? Then *interpreter and *argument (or NULL) are what its first line says, as
 * execve(2) has it. 1, 0 or a negative errno.
 */
static int read_script(const char *name, int fd, char **interpreter, char **argument)
{
	static const char blanks[] = " \t";
	char line[SCRIPT_LINE + 1], *end, *at;
	ssize_t n = pread(fd, line, SCRIPT_LINE, 0);

	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	at = line + 2 + strspn(line + 2, blanks);
	for (end = at + strlen(at); end > at && strchr(blanks, end[-1]); end--)
		end[-1] = '\0';
	end = at + strcspn(at, blanks);
	/* A name that was cut off would be another one. */
	if (end == at || end == line + SCRIPT_LINE)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: names no program to run it behind #!, or one with a too long name",
			name);
	*argument = *end ? strdup(end + strspn(end, blanks)) : NULL;
	*interpreter = strndup(at, end - at);
	return *interpreter ? 1 : refuse(ENOMEM, EXIT_LWK, "out of memory");
}

/* argv of what runs the script 'path': itself, its argument if any, the path, the rest; or NULL. */
static char **script_arguments(char *interpreter, char *argument, char *path, char **argv)
{
	size_t argc = 0, n = 0;
	char **longer;

	while (argv[argc])
		argc++;
	longer = calloc(argc + 3, sizeof(*longer));
	if (!longer)
		return NULL;
	longer[n++] = interpreter;
	if (argument)
		longer[n++] = argument;
	longer[n++] = path;
	if (argc)
		memcpy(longer + n, argv + 1, argc * sizeof(*argv));
	return longer;
}

/* Opens what runs the program 'path': itself, or what the script's first line says. */
static int open_program(struct program *program, char *path)
{
	struct elf_file *elf = &program->elf;
	char *interpreter, *argument;
	const char *user = NULL;
	unsigned scripts = 0;
	int is_script;

	elf->fd = open_executable(path, NULL);
	if (elf->fd < 0)
		return elf->fd;
	while ((is_script = read_script(path, elf->fd, &interpreter, &argument)) > 0) {
		if (++scripts > MAX_SCRIPTS)
			return refuse(ELOOP, EXIT_CANNOT_RUN, "%s: scripts that run scripts: %s",
				      program->name, strerror(ELOOP));
		program->argv = script_arguments(interpreter, argument, path, program->argv);
		if (!program->argv)
			return refuse(ENOMEM, EXIT_LWK, "out of memory");
		close(elf->fd);
		user = path;
		path = interpreter;
		elf->fd = open_executable(path, user);
		if (elf->fd < 0)
			return elf->fd;
	}
	if (is_script < 0)
		return is_script;
	elf->name = user ? path : program->name;
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
		error = load_headers(elf, PIE_BASE, &interpreter);
	if (error || !interpreter) {
		free(interpreter);
		return error;
	}
	elf = &program->interpreter;
	elf->name = interpreter;
	elf->fd = open_executable(interpreter, name);
	if (elf->fd < 0)
		return elf->fd;
	/* One that asks for another is run all the same, as on Linux. */
	error = load_headers(elf, INTERPRETER_BASE, &another);
	free(another);
	return error == -ENOEXEC ? -ELIBBAD : error;
}

void program_close(struct program *program)
{
	struct elf_file *const files[] = { &program->elf, &program->interpreter };

	for (size_t i = 0; i < 2; i++) {
		if (files[i]->fd >= 0)
			close(files[i]->fd);
		free(files[i]->segments);
	}
	free(program->path);
}
