/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the program and checks that it can run on the LWK. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lwkexec.h"

/* Where a position-independent program goes: far from both ends. */
#define PIE_BASE 0x200000000000UL
#define PAGE 4096UL
#define MAX_HEADERS 128

/* What execvp(3) would run, or NULL with errno. */
static char *find(const char *name)
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

static void add_segment(struct program *program, const GElf_Phdr *header)
{
	struct segment *segment = &program->segments[program->n_segments];
	uint64_t start = program->bias + header->p_vaddr, end;

	if (!header->p_memsz)
		return;
	if (header->p_filesz > header->p_memsz ||
	    __builtin_add_overflow(start, header->p_memsz, &end) || start < LWK_USER_START ||
	    end > LWK_USER_END || header->p_vaddr >= LWK_USER_END)
		fail(EXIT_CANNOT_RUN,
		     "%s: a segment at 0x%llx of 0x%llx bytes is not in the LWK's range 0x%llx-0x%llx; link it without special addresses",
		     program->name, (unsigned long long)start, (unsigned long long)header->p_memsz,
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
	if (header->p_offset <= program->headers &&
	    program->headers - header->p_offset < header->p_filesz && !program->entry)
		program->entry = start - header->p_offset; /* for now: address of file offset 0 */
	if (end > program->end)
		program->end = end;
	program->n_segments++;
}

static void read_headers(struct program *program, Elf *elf)
{
	GElf_Ehdr ehdr;
	size_t n;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr)) {
		char start[2] = "";

		if (pread(program->fd, start, 2, 0) == 2 && memcmp(start, "#!", 2) == 0)
			fail(EXIT_CANNOT_RUN,
			     "%s: is a script, and the LWK runs ELF programs; start its programs with srun from the batch script, or use --lwk-launch=none to run it on Linux",
			     program->name);
		fail(EXIT_CANNOT_RUN,
		     "%s: is not an ELF program; the LWK runs statically linked x86-64 ELF programs",
		     program->name);
	}
	if (gelf_getclass(elf) != ELFCLASS64 || ehdr.e_machine != EM_X86_64)
		fail(EXIT_CANNOT_RUN,
		     "%s: is for ELF machine %d (%s-bit); compile it for this node's x86-64",
		     program->name, ehdr.e_machine, gelf_getclass(elf) == ELFCLASS64 ? "64" : "32");
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN)
		fail(EXIT_CANNOT_RUN, "%s: is no executable (ELF type %d); link it", program->name,
		     ehdr.e_type);
	if (elf_getphdrnum(elf, &n) || n == 0 || n > MAX_HEADERS)
		fail(EXIT_CANNOT_RUN,
		     "%s: its program headers cannot be read; is the file truncated?",
		     program->name);

	program->bias = ehdr.e_type == ET_DYN ? PIE_BASE : 0;
	program->headers = ehdr.e_phoff;
	program->n_headers = n;
	program->header_size = ehdr.e_phentsize;
	program->segments = calloc(n, sizeof(*program->segments));
	if (!program->segments)
		fail(EXIT_LWK, "out of memory");
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, i, &header))
			fail(EXIT_CANNOT_RUN,
			     "%s: program header %zu cannot be read; is the file truncated?",
			     program->name, i);
		if (header.p_type == PT_INTERP)
			fail(EXIT_CANNOT_RUN,
			     "%s: is dynamically linked, and this LWK runs static programs; link it with -static",
			     program->name);
		if (header.p_type == PT_LOAD)
			add_segment(program, &header);
	}
	if (!program->n_segments || !program->entry)
		fail(EXIT_CANNOT_RUN, "%s: has nothing to load; is it a program?", program->name);
	program->headers += program->entry;
	program->entry = program->bias + ehdr.e_entry;
}

void program_open(struct program *program, const char *name)
{
	char *found = find(name);
	struct stat st;
	Elf *elf;

	*program = (struct program){ .name = name, .fd = -1 };
	if (!found)
		fail(errno == EACCES ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND,
		     errno == EACCES ? "%s: is in PATH but not executable; chmod +x it"
				     : "%s: no such program in PATH; check the name",
		     name);
	program->fd = open(found, O_RDONLY | O_CLOEXEC);
	if (program->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		fail(EXIT_NOT_FOUND, "%s: no such program; check the path", name);
	if (program->fd < 0 || fstat(program->fd, &st))
		fail(EXIT_CANNOT_RUN,
		     "%s: cannot be read (%s); the LWK needs read permission to load it", name,
		     strerror(errno));
	if (!S_ISREG(st.st_mode))
		fail(EXIT_CANNOT_RUN, "%s: is no regular file; name a program", name);
	if (faccessat(AT_FDCWD, found, X_OK, AT_EACCESS))
		fail(EXIT_CANNOT_RUN, "%s: is not executable; chmod +x it", name);
	program->path = realpath(found, NULL);
	free(found);
	elf_version(EV_CURRENT);
	elf = elf_begin(program->fd, ELF_C_READ, NULL);
	if (!elf || !program->path)
		fail(EXIT_CANNOT_RUN, "%s: cannot be read (%s)", name,
		     elf ? strerror(errno) : elf_errmsg(-1));
	read_headers(program, elf);
	elf_end(elf);
}
