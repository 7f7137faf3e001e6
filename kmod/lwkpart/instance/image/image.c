// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks an LWK image and loads its segments. The image comes from the site's administrator, but
 * a mistake in it must not write outside the partition: every number is checked before its use.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "instance/image/image.h"

#include <linux/elf.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <asm/io.h>

int image_check(const void *file, u64 size)
{
	const Elf64_Ehdr *header = file;
	const char *wrong = NULL;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG))
		wrong = "it is no ELF file";
	else if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
		 header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_X86_64)
		wrong = "it is not for x86-64";
	else if (header->e_type != ET_EXEC)
		wrong = "it is not linked to a fixed address (ET_EXEC)";
	else if (header->e_phentsize != sizeof(Elf64_Phdr) || !header->e_phnum ||
		 header->e_phnum > LWKPART_MAX_SEGMENTS || header->e_phoff > size ||
		 header->e_phnum * sizeof(Elf64_Phdr) > size - header->e_phoff ||
		 !IS_ALIGNED(header->e_phoff, sizeof(u64)))
		wrong = "its program header table is missing, too long or outside the file";
	if (!wrong)
		return 0;
	pr_err("the LWK image cannot be used: %s; look at it with 'readelf -hl'\n", wrong);
	return -ENOEXEC;
}

static int check_segment(const Elf64_Phdr *segment, u64 size)
{
	const char *wrong = NULL;
	u64 end;

	if (segment->p_filesz > segment->p_memsz || segment->p_offset > size ||
	    segment->p_filesz > size - segment->p_offset)
		wrong = "is longer than the file";
	else if (check_add_overflow(segment->p_vaddr, segment->p_memsz, &end) ||
		 segment->p_vaddr < LWK_IMAGE_BASE || end > LWK_IMAGE_LIMIT)
		wrong = "is outside LWK_IMAGE_BASE..LWK_IMAGE_LIMIT";
	else if (!IS_ALIGNED(segment->p_vaddr, PAGE_SIZE))
		wrong = "does not begin at a page";
	else if ((segment->p_flags & PF_W) && (segment->p_flags & PF_X))
		wrong = "is both writable and executable";
	if (!wrong)
		return 0;
	pr_err("the LWK image cannot be used: its segment at %#llx, %llu bytes, %s; look at it with 'readelf -l'\n",
	       segment->p_vaddr, segment->p_memsz, wrong);
	return -ENOEXEC;
}

static int load_segment(struct instance *instance, struct layout *layout, const Elf64_Phdr *segment,
			const void *file)
{
	void *to = layout_take(layout, segment->p_memsz);
	u64 offset;
	int error;

	if (!to)
		return -ENOMEM;
	memcpy(to, file + segment->p_offset, segment->p_filesz);
	for (offset = 0; offset < segment->p_memsz; offset += PAGE_SIZE) {
		error = tables_map_page(layout, segment->p_vaddr + offset,
					virt_to_phys(to) + offset, segment->p_flags & PF_W,
					segment->p_flags & PF_X);
		if (error == -ENOEXEC)
			pr_err("the LWK image cannot be used: two segments share the page %#llx; align them to pages\n",
			       segment->p_vaddr + offset);
		if (error)
			return error;
	}
	instance->segments[instance->n_segments++] = (struct lwkpart_dump_segment){
		.address = segment->p_vaddr,
		.start = virt_to_phys(to),
		.size = PAGE_ALIGN(segment->p_memsz),
	};
	return 0;
}

int image_load(struct instance *instance, struct layout *layout, const void *file, u64 size)
{
	const Elf64_Ehdr *header = file;
	const Elf64_Phdr *segments = file + header->e_phoff;
	bool entry_found = false;
	unsigned int i;
	int error;

	for (i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];

		if (segment->p_type != PT_LOAD || !segment->p_memsz)
			continue;
		error = check_segment(segment, size);
		if (!error)
			error = load_segment(instance, layout, segment, file);
		if (error)
			return error;
		if ((segment->p_flags & PF_X) && header->e_entry >= segment->p_vaddr &&
		    header->e_entry - segment->p_vaddr < segment->p_filesz)
			entry_found = true;
	}
	if (!entry_found) {
		pr_err("the LWK image cannot be used: its entry point %#llx is in no executable segment; look at it with 'readelf -hl'\n",
		       header->e_entry);
		return -ENOEXEC;
	}
	return 0;
}

u64 image_entry(const void *file)
{
	return ((const Elf64_Ehdr *)file)->e_entry;
}
