// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/program.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static uint64_t hash(const unsigned char *bytes, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash ? hash : 1;
}

/* Hashes the build id among the notes of a segment; 0 when it is not there. */
static uint64_t hash_build_id(const char *notes, size_t size)
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= size) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note), id = name + (note->n_namesz + 3) / 4 * 4;

		if (id + note->n_descsz > size)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
		    memcmp(notes + name, "GNU", sizeof("GNU")) == 0)
			return hash((const unsigned char *)notes + id, note->n_descsz);
		at = id + (note->n_descsz + 3) / 4 * 4;
	}
	return 0;
}

/* The first object that is told is the program. */
static int hash_object(struct dl_phdr_info *info, size_t size, void *result)
{
	uint64_t found = 0;

	for (int i = 0; !found && i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			found = hash_build_id((char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
					      info->dlpi_phdr[i].p_memsz);
	}
	for (int i = 0; !found && i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			found = hash((unsigned char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				     info->dlpi_phdr[i].p_filesz);
	}
	*(uint64_t *)result = found ? found : 1;
	return 1;
}

uint64_t program_hash(void)
{
	uint64_t result = 1;

	dl_iterate_phdr(hash_object, &result);
	return result;
}
