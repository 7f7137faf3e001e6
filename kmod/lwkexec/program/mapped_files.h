/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for the files that the LWK process has mapped. The LWK knows what is mapped and only the
 * proxy knows files, so the LWK keeps a file's number with the mapping.
 */
#ifndef LWKEXEC_MAPPED_FILES_H
#define LWKEXEC_MAPPED_FILES_H

#include <stdint.h>
#include <sys/types.h>

struct mapped_file {
	dev_t device;
	ino_t inode;
	const char *path; /* lives as long as the proxy */
};

/* The number of the file that is open there; 0: it has none. */
uint32_t mapped_file_number(int fd);
/* The file with a number that the LWK says; all 0 if there is no such file. */
struct mapped_file mapped_file_get(uint64_t number);
/*
 * Reads a part of such a file into memory of the program; the file's last page ends with zeros, and
 * pages behind it stay as they are. Returns the bytes read, or a negative errno; -ENOENT: the file is
 * not at its path any more.
 */
int64_t mapped_file_load(uint64_t number, uint64_t start, uint64_t size, uint64_t offset);
/* Must be called in a forked child. */
void mapped_files_renew(void);

#endif
