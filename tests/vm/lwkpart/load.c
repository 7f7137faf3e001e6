// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests LOAD and BOOT of images and LWKs with faults.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"

/* A good image in which one number is replaced. */
static const struct bad_image {
	const char *what;
	size_t offset, size;
	unsigned long value;
} bad_images[] = {
#define HEADER(what, field, value)                                                                 \
	{ what, offsetof(struct image, header.field), sizeof(((Elf64_Ehdr *)0)->field), value }
#define SEGMENT(what, field, value)                                                                \
	{ what, offsetof(struct image, segment.field), sizeof(((Elf64_Phdr *)0)->field), value }
	HEADER("no ELF file", e_ident[0], 0),
	HEADER("a 32-bit image", e_ident[EI_CLASS], ELFCLASS32),
	HEADER("a big-endian image", e_ident[EI_DATA], ELFDATA2MSB),
	HEADER("an image for another machine", e_machine, EM_AARCH64),
	HEADER("a position-independent image", e_type, ET_DYN),
	HEADER("an image with odd program headers", e_phentsize, 55),
	HEADER("an image without program headers", e_phnum, 0),
	HEADER("an image with too many program headers", e_phnum, 0xffff),
	HEADER("an image whose program headers are beyond its end", e_phoff, 1UL << 40),
	HEADER("an image whose program headers wrap", e_phoff, -8UL),
	HEADER("an image whose program headers are out of line", e_phoff, 3),
	HEADER("an image with its entry point outside", e_entry, LWK_IMAGE_BASE + 4096),
	HEADER("an image with its entry point below", e_entry, 0),
	SEGMENT("an image without a segment", p_type, PT_NOTE),
	SEGMENT("an image without code", p_flags, PF_R),
	SEGMENT("an image with writable code", p_flags, PF_R | PF_W | PF_X),
	SEGMENT("a segment beyond the end", p_offset, 1UL << 40),
	SEGMENT("a segment that wraps in the file", p_offset, -1UL),
	SEGMENT("a segment longer than the file", p_filesz, 1UL << 40),
	SEGMENT("a segment shorter in memory than in the file", p_memsz, 1),
	SEGMENT("a segment that wraps in memory", p_memsz, -4096UL),
	SEGMENT("a segment beyond the image's place", p_memsz, 1UL << 30),
	SEGMENT("a segment below the image's place", p_vaddr, LWK_IMAGE_BASE - 4096),
	SEGMENT("a segment in user space", p_vaddr, 0x400000),
	SEGMENT("a segment that begins within a page", p_vaddr, LWK_IMAGE_BASE + 8),
};

void test_bad_images(__u32 instance)
{
	struct image good = make_image(panicking_lwk, panicking_lwk_end), image;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		char code[64];
	} twice = { 0 };
	char name[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_images); i++) {
		image = good;
		memcpy((char *)&image + bad_images[i].offset, &bad_images[i].value,
		       bad_images[i].size);
		snprintf(name, sizeof(name), "LOAD of %s", bad_images[i].what);
		check_result(load(instance, &image, sizeof(image)), ENOEXEC, name);
	}
	twice.header = good.header;
	twice.header.e_phnum = 2;
	twice.segments[0] = twice.segments[1] = good.segment;
	twice.segments[0].p_offset = twice.segments[1].p_offset = offsetof(typeof(twice), code);
	check_result(load(instance, &twice, sizeof(twice)), ENOEXEC,
		     "LOAD of an image with two segments at one address");
	image = good;
	image.segment.p_memsz = LWK_IMAGE_LIMIT - LWK_IMAGE_BASE;
	check_result(load(instance, &image, sizeof(image)), ENOMEM,
		     "LOAD of an image too large for the memory");
	check_result(load(instance, &good, 0), ENOEXEC, "LOAD of an empty file");
	check_result(load(instance, &good, sizeof(Elf64_Ehdr) - 1), ENOEXEC,
		     "LOAD of half a header");
	check_result(load(instance, &good, sizeof(Elf64_Ehdr)), ENOEXEC, "LOAD of a header only");
	check_result(load(instance, &good, LWKPART_MAX_IMAGE + 1), ENOEXEC,
		     "LOAD of a file that is too long");
	check_result(load(instance, NULL, 4096), EFAULT, "LOAD from nowhere");
	check(has_state(instance, LWK_STATE_ASSIGNED), "after all this it is still ASSIGNED");
	check_result(boot(instance, 1), EBUSY, "BOOT of an instance that is not LOADED");
}

void test_bad_lwks(void)
{
	struct image spinning = make_image(spinning_lwk, spinning_lwk_end);
	struct image panicking = make_image(panicking_lwk, panicking_lwk_end);
	struct partition partition;
	__u32 instance;

	if (!set_up(&partition))
		return;
	instance = partition.instance;
	check_result(load(instance, &panicking, sizeof(panicking)), 0, "LOAD of a bad LWK");
	check_result(boot(instance, 10000), EIO, "BOOT of an LWK that panics");
	check(has_state(instance, LWK_STATE_PANIC), "it is in PANIC");
	check(!strcmp(get_instance(instance).message, "oh?"),
	      "its message is shown, made printable");
	check_result(shut_down(instance), 0, "SHUTDOWN after a panic");
	check_result(destroy(instance), 0, "DESTROY after a panic");
	test_long_dump(&partition);

	check(!create(&instance) && !assign_cpu(instance, cpu_a) &&
		      !assign_memory(instance, partition.contig, CONTIG_BYTES) &&
		      !load(instance, &spinning, sizeof(spinning)),
	      "an LWK that spins is loaded on the same CPU");
	check_result(boot(instance, 500), ETIMEDOUT, "BOOT of it");
	check(has_state(instance, LWK_STATE_HUNG), "it is HUNG");
	check(get_instance(instance).message[0], "a message says so");
	check_result(shut_down(instance), 0, "SHUTDOWN of a hung LWK");
	check(undo(), "all is undone");
}
