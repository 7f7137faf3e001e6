// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs that users start: ELF files and scripts, as the proxy reads them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/shared/layout.h"
#include "fuzz.h"
#include "lwkexec/program/elf_file.h"
#include "lwkexec/program/script.h"

/* The proxy's own is in base/fail.c, which ends the process elsewhere. */
int refuse(int error, int status, const char *format, ...)
{
	must(error > 0 && status);
	return -error;
}

static void check_segments(const struct elf_file *elf)
{
	must(elf->n_segments && elf->n_segments <= 128);
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct segment *segment = &elf->segments[i];

		must(segment->start >= LWK_USER_START && segment->start < segment->end);
		must(segment->end <= LWK_USER_END);
		must(segment->start % 4096 == 0 && segment->end % 4096 == 0);
		must(segment->data >= segment->start && segment->data < segment->end);
		must(segment->size <= segment->end - segment->data);
		must(!(segment->prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC)));
	}
	must(elf->end <= LWK_USER_END);
}

static void read_elf(int fd)
{
	struct elf_file elf = { .name = "program", .fd = fd };
	char *interpreter = NULL;

	if (elf_file_read(&elf, 0x200000000000UL, &interpreter) == 0) {
		check_segments(&elf);
		must(!interpreter || strlen(interpreter) < 4096);
	}
	free(interpreter);
	elf.fd = -1;
	elf_file_close(&elf);
}

static void read_script(int fd)
{
	char path[] = "path", program[] = "program", *argv[] = { program, NULL }, **longer;
	char *interpreter = NULL, *argument = NULL;

	if (script_read("script", fd, &interpreter, &argument) <= 0)
		return;
	must(*interpreter && !strpbrk(interpreter, " \t\n"));
	longer = script_arguments(interpreter, argument, path, argv);
	must(longer && longer[0] == interpreter);
	free(longer);
	free(interpreter);
	free(argument);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("program", MFD_CLOEXEC);
	must(fd >= 0 && ftruncate(fd, 0) == 0);
	must(pwrite(fd, data, size, 0) == (ssize_t)size);
	lseek(fd, 0, SEEK_SET);
	read_script(fd);
	read_elf(fd);
	return 0;
}
