/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each exec of a program starts lwkexec, so it links nothing that would have to be loaded, as
 * libelf.
 */
#include "lwkexec/program/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/shared/layout.h"
#include "lwkexec/base/fail.h"

#define PAGE 4096UL
#define MAX_HEADERS 128

/* The functions below return 0, or a negative errno as execve(2) has it, after refuse(). */

static int add_segment(struct elf_file *elf, const Elf64_Phdr *header)
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
			"%s: expected segments in the LWK's range 0x%llx-0x%llx, found one at 0x%llx of 0x%llx bytes; link it without special addresses",
			elf->name, (unsigned long long)LWK_USER_START,
			(unsigned long long)LWK_USER_END, (unsigned long long)start,
			(unsigned long long)header->p_memsz);
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
		elf->entry = start - header->p_offset; /* until elf_file_read() ends: of offset 0 */
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

static int check_header(const char *name, const Elf64_Ehdr *ehdr)
{
	bool is_64 = ehdr->e_ident[EI_CLASS] == ELFCLASS64;

	if (!is_64 || ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ehdr->e_machine != EM_X86_64)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected a program for this node's x86-64, found one for ELF machine %d (%s-bit); compile it for this node",
			name, ehdr->e_machine, is_64 ? "64" : "32");
	if (ehdr->e_phentsize != sizeof(Elf64_Phdr))
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected program headers of %zu bytes each, found %d; link it again",
			name, sizeof(Elf64_Phdr), ehdr->e_phentsize);
	if (ehdr->e_type != ET_EXEC && ehdr->e_type != ET_DYN)
		return refuse(ENOEXEC, EXIT_CANNOT_RUN,
			      "%s: expected an executable, found ELF type %d; link it", name,
			      ehdr->e_type);
	return 0;
}

static bool read_at(const struct elf_file *elf, void *to, size_t size, uint64_t offset)
{
	return pread(elf->fd, to, size, offset) == (ssize_t)size;
}

/* Sets *path to the path in a PT_INTERP header; the caller frees it. */
static int read_interpreter(const struct elf_file *elf, const Elf64_Phdr *header, char **path)
{
	if (header->p_filesz < 2 || header->p_filesz > PATH_MAX)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected a dynamic linker's name of 2 to %d bytes, found 0x%llx bytes; link it again",
			elf->name, PATH_MAX, (unsigned long long)header->p_filesz);
	*path = malloc(header->p_filesz);
	if (!*path)
		return refuse(ENOMEM, EXIT_LWK, "out of memory");
	if (!read_at(elf, *path, header->p_filesz, header->p_offset) ||
	    (*path)[header->p_filesz - 1] != '\0')
		return refuse(
			EIO, EXIT_CANNOT_RUN,
			"%s: expected the name of its dynamic linker, found no whole one; copy or link it again",
			elf->name);
	return 0;
}

static int read_header(struct elf_file *file, const Elf64_Phdr *header, char **interpreter)
{
	if (header->p_type == PT_INTERP && !*interpreter)
		return read_interpreter(file, header, interpreter);
	/* Compilers put code on the stack for a function in a function that is passed as an argument. */
	if (header->p_type == PT_GNU_STACK)
		file->executable_stack = header->p_flags & PF_X;
	return header->p_type == PT_LOAD ? add_segment(file, header) : 0;
}

int elf_file_read(struct elf_file *file, uint64_t base, char **interpreter)
{
	Elf64_Phdr headers[MAX_HEADERS];
	Elf64_Ehdr ehdr;
	int error;

	if (!read_at(file, &ehdr, sizeof(ehdr), 0) || memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected an ELF program or a script (#!), found neither; name a program that Linux runs on x86-64",
			file->name);
	error = check_header(file->name, &ehdr);
	if (error)
		return error;
	if (!ehdr.e_phnum || ehdr.e_phnum > MAX_HEADERS ||
	    !read_at(file, headers, ehdr.e_phnum * sizeof(headers[0]), ehdr.e_phoff))
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected 1 to %d whole program headers, found others; copy or link it again",
			file->name, MAX_HEADERS);

	file->bias = ehdr.e_type == ET_DYN ? base : 0;
	file->headers = ehdr.e_phoff;
	file->n_headers = ehdr.e_phnum;
	file->header_size = ehdr.e_phentsize;
	file->segments = calloc(ehdr.e_phnum, sizeof(*file->segments));
	if (!file->segments)
		return refuse(ENOMEM, EXIT_LWK, "out of memory");
	for (size_t i = 0; i < ehdr.e_phnum; i++) {
		error = read_header(file, &headers[i], interpreter);
		if (error)
			return error;
	}
	if (!file->n_segments || !file->entry)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected segments to load, found none with its headers; link it as a program",
			file->name);
	file->headers += file->entry;
	file->entry = file->bias + ehdr.e_entry;
	if (!in_a_segment(file, file->entry))
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected its entry point in one of its segments, found 0x%llx; link it again",
			file->name, (unsigned long long)file->entry);
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->segments);
}
