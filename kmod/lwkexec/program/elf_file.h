/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files that are loaded for a program: what their headers say. */
#ifndef LWKEXEC_ELF_FILE_H
#define LWKEXEC_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment {
	uint64_t start, end; /* whole pages of the process's memory */
	uint64_t data;	     /* the address of the first byte of the file */
	uint64_t offset, size;
	uint32_t prot;
};

/* The program or its dynamic linker. All addresses are in the process and include 'bias'. */
struct elf_file {
	const char *name; /* for messages */
	int fd;
	struct segment *segments;
	size_t n_segments;
	uint64_t bias;
	uint64_t entry;
	uint64_t headers; /* the program headers (AT_PHDR) */
	uint16_t n_headers, header_size;
	uint64_t end; /* of the last segment */
	bool executable_stack;
};

/*
 * Reads the headers of file->fd into the other fields but 'name'; 'base' becomes the bias if the
 * file is position-independent. *interpreter gets the path of the dynamic linker that the file
 * names, if it names one; the caller frees it. Returns 0, or a negative errno as execve(2) has it,
 * after refuse(). elf_file_close() in any case.
 */
int elf_file_read(struct elf_file *file, uint64_t base, char **interpreter);
/* Closes file->fd, unless it is -1, and frees the segments. */
void elf_file_close(struct elf_file *file);

#endif
