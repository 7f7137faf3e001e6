// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LWK images: two of a few instructions, and the one given as argument.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi.h"

/*
 * The code of LWKs. This program never runs it, but copies it into images. lwkshared.h describes
 * RDI and RSI at the entry.
 */
__asm__(".pushsection .rodata\n"
	".globl spinning_lwk, spinning_lwk_end\n"
	"spinning_lwk:\n"
	"	jmp spinning_lwk\n"
	"spinning_lwk_end:\n"
	".popsection\n");

__attribute__((used)) static void code_of_panicking_lwk(void)
{
	__asm__ volatile(
		".pushsection .rodata\n"
		".globl panicking_lwk, panicking_lwk_end\n"
		"panicking_lwk:\n"
		"	mov %c0(%%rdi), %%rax\n"
		"	movabs %1, %%rcx\n"
		"	movl %3, %c2(%%rax, %%rcx)\n"
		"	movl %5, %c4(%%rax, %%rcx)\n"
		"1:	hlt\n"
		"	jmp 1b\n"
		"panicking_lwk_end:\n"
		".popsection\n" ::"i"(offsetof(struct lwk_boot_params, status)),
		"i"(LWK_DIRECT_MAP), "i"(offsetof(struct lwk_status, message)),
		"i"('o' | 'h' << 8 |
		    '\033' << 16), /* "oh" and an escape character, which must not get into a log */
		"i"(offsetof(struct lwk_status, state)), "i"(LWK_STATE_PANIC));
}

/* This LWK says where its CPU's registers will be, and leaves the zeroes there as they are. */
__attribute__((used)) static void code_of_silent_lwk(void)
{
	__asm__ volatile(".pushsection .rodata\n"
			 ".globl silent_lwk, silent_lwk_end\n"
			 "silent_lwk:\n"
			 "	mov %c0(%%rdi), %%rax\n"
			 "	mov %%rax, %%rdx\n"
			 "	sub %c1(%%rdi), %%rdx\n"
			 "	add %2, %%rdx\n"
			 "	movabs %3, %%rcx\n"
			 "	mov %%rdx, %c4(%%rax, %%rcx)\n"
			 "	movl %6, %c5(%%rax, %%rcx)\n"
			 "1:	hlt\n"
			 "	jmp 1b\n"
			 "silent_lwk_end:\n"
			 ".popsection\n" ::"i"(offsetof(struct lwk_boot_params, status)),
			 "i"(offsetof(struct lwk_boot_params, reserve_start)),
			 "i"(offsetof(struct lwk_status, cpu)), "i"(LWK_DIRECT_MAP),
			 "i"(offsetof(struct lwk_status, registers)),
			 "i"(offsetof(struct lwk_status, state)), "i"(LWK_STATE_PANIC));
}

struct image make_image(const char *code, const char *end)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = LWK_IMAGE_BASE,
			.e_phoff = offsetof(struct image, segment),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offsetof(struct image, code),
			.p_vaddr = LWK_IMAGE_BASE,
			.p_filesz = end - code,
			.p_memsz = end - code,
		},
	};

	memcpy(image.code, code, end - code);
	return image;
}

char *read_image(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat status;
	char *image;

	if (fd < 0 || fstat(fd, &status))
		bail_out("cannot read the LWK image given as argument");
	image = malloc(status.st_size);
	if (!image || read(fd, image, status.st_size) != status.st_size)
		bail_out("cannot read the LWK image given as argument");
	close(fd);
	*size = status.st_size;
	return image;
}
