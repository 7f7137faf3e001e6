// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lays out the LWK kernel's reserve at the start of the partition's largest range:
 * boot parameters, the shared areas, stacks, the image's segments, and the page
 * tables with which its CPUs enter it. lwkshared.h is the contract.
 *
 * The image comes from the site's administrator, but a mistake in it must not write
 * outside the partition: every number is checked before it is used.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/elf.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/io.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include "internal.h"

#define RESERVE_MIN (8UL << 20)
/* For a slot: shared areas, a stack, registers; 16 of them are less than 1 MB. */
#define RESERVE_SLOT (40UL << 10)
/* What the direct map has room for, up to LWK_LAPIC_VADDR: 64 TB. */
#define DIRECT_MAP_LIMIT BIT_ULL(46)
#define ENTRY_ADDRESS 0x000ffffffffff000UL

/* Page table levels that a page can sit in; its size is 1 << LEVEL_SHIFT(level). */
#define LEVEL_4K 1
#define LEVEL_2M 2
#define LEVEL_1G 3
#define LEVEL_SHIFT(level) (3 + 9 * (level))

/* The reserve while it is being filled from its start; all physical, in bytes. */
struct layout {
	u64 start, next, end;
	u64 page_root;
	unsigned int levels;
};

static u64 lwk_address(u64 physical)
{
	return LWK_DIRECT_MAP + physical;
}

/* Takes whole pages, and clears them; NULL when the reserve is full. */
static void *take(struct layout *layout, u64 size)
{
	u64 at = layout->next;

	size = PAGE_ALIGN(size);
	if (size > layout->end - at)
		return NULL;
	layout->next = at + size;
	return memset(phys_to_virt(at), 0, size);
}

static u64 no_execute(void)
{
	return boot_cpu_has(X86_FEATURE_NX) ? _PAGE_NX : 0;
}

/* Maps one page. -ENOMEM: no room for a table; -ENOEXEC: something is mapped there. */
static int map_page(struct layout *layout, u64 address, u64 physical, u64 flags, unsigned int level)
{
	u64 *table = phys_to_virt(layout->page_root);
	unsigned int depth;

	for (depth = layout->levels; depth > level; depth--) {
		u64 *entry = &table[(address >> LEVEL_SHIFT(depth)) % PTRS_PER_PTE];

		if (!*entry) {
			void *page = take(layout, PAGE_SIZE);

			if (!page)
				return -ENOMEM;
			*entry = virt_to_phys(page) | _PAGE_PRESENT | _PAGE_RW | _PAGE_ACCESSED;
		} else if (*entry & _PAGE_PSE) {
			return -ENOEXEC;
		}
		table = phys_to_virt(*entry & ENTRY_ADDRESS);
	}
	table += (address >> LEVEL_SHIFT(level)) % PTRS_PER_PTE;
	if (*table)
		return -ENOEXEC;
	*table = physical | flags | _PAGE_PRESENT | _PAGE_ACCESSED |
		 (flags & _PAGE_RW ? _PAGE_DIRTY : 0) | (level > LEVEL_4K ? _PAGE_PSE : 0);
	return 0;
}

static int map_direct(struct layout *layout, const struct lwk_boot_mem *mem)
{
	u64 flags = _PAGE_RW | no_execute();
	u64 at = mem->start, end = mem->start + mem->size;

	while (at < end) {
		bool huge = boot_cpu_has(X86_FEATURE_GBPAGES) && IS_ALIGNED(at, PUD_SIZE) &&
			    end - at >= PUD_SIZE;
		int error =
			map_page(layout, lwk_address(at), at, flags, huge ? LEVEL_1G : LEVEL_2M);

		if (error)
			return error;
		at += huge ? PUD_SIZE : PMD_SIZE;
	}
	return 0;
}

/* What the switch to the LWK needs beside its own memory. */
static int map_machine(struct layout *layout)
{
	u64 stub = cpu_stub_address() & PAGE_MASK, apic_base;
	int error;

	/* Executable while CR3 changes, and the first page the LWK may drop. */
	error = map_page(layout, stub, slow_virt_to_phys((void *)stub), 0, LEVEL_4K);
	if (error || x2apic_enabled())
		return error;
	rdmsrl(MSR_IA32_APICBASE, apic_base);
	return map_page(layout, LWK_LAPIC_VADDR, apic_base & ENTRY_ADDRESS,
			_PAGE_RW | _PAGE_PCD | _PAGE_PWT | no_execute(), LEVEL_4K);
}

/* 0 when the file is an image that follows lwkshared.h, else -ENOEXEC with a message. */
static int check_header(const Elf64_Ehdr *header, u64 size)
{
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
	u64 flags = (segment->p_flags & PF_W ? _PAGE_RW : 0) |
		    (segment->p_flags & PF_X ? 0 : no_execute());
	void *to = take(layout, segment->p_memsz);
	u64 offset;
	int error;

	if (!to)
		return -ENOMEM;
	memcpy(to, file + segment->p_offset, segment->p_filesz);
	for (offset = 0; offset < segment->p_memsz; offset += PAGE_SIZE) {
		error = map_page(layout, segment->p_vaddr + offset, virt_to_phys(to) + offset,
				 flags, LEVEL_4K);
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

static int load_segments(struct instance *instance, struct layout *layout, const void *file,
			 u64 size)
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

static int larger_first(const void *left, const void *right)
{
	const struct lwk_boot_mem *a = left, *b = right;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->start < b->start ? -1 : 1;
}

/* The reserve of a partition: enough for an LWK's own tables, and not the whole range. */
static u64 reserve_size(const struct instance *instance)
{
	u64 total = 0;
	unsigned int i;

	for (i = 0; i < instance->n_mem; i++)
		total += instance->mem[i].size;
	total = max_t(u64, total / 64, RESERVE_MIN + instance->n_slots * RESERVE_SLOT);
	total = ALIGN(total, LWKPART_MEM_ALIGN);
	return min(total, instance->mem[0].size - LWKPART_MEM_ALIGN);
}

static void fill_params(const struct instance *instance, const struct layout *layout)
{
	struct lwk_boot_params *params = instance->params;

	params->magic = LWK_SHARED_MAGIC;
	params->version = LWK_SHARED_VERSION;
	params->n_cpus = instance->n_cpus;
	params->n_slots = instance->n_slots;
	params->n_mem = instance->n_mem;
	params->x2apic = x2apic_enabled();
	params->job_id = instance->job_id;
	params->reserve_start = instance->reserve_start;
	params->reserve_size = instance->reserve_size;
	params->reserve_used = instance->reserve_used;
	params->status = virt_to_phys(instance->status);
	params->console = virt_to_phys(instance->console);
	params->channels = virt_to_phys(instance->channels);
	params->controls = virt_to_phys(instance->controls);
	params->grants = virt_to_phys(instance->grants);
	params->clock = virt_to_phys(instance->clock);
	params->tsc_khz = tsc_khz;
	strscpy(params->linux_release, init_utsname()->release, sizeof(params->linux_release));
	strscpy(params->nodename, init_utsname()->nodename, sizeof(params->nodename));
	strscpy(params->domainname, init_utsname()->domainname, sizeof(params->domainname));
	memcpy(params->cpus, instance->cpus, instance->n_cpus * sizeof(params->cpus[0]));
	memcpy(params->mem, instance->mem, instance->n_mem * sizeof(params->mem[0]));
}

/* The largest range first, all of it within reach. 0 or -ENOMEM. */
static int sort_memory(struct instance *instance)
{
	unsigned int i;

	sort(instance->mem, instance->n_mem, sizeof(instance->mem[0]), larger_first, NULL);
	for (i = 0; i < instance->n_mem; i++) {
		if (instance->mem[i].start + instance->mem[i].size <= DIRECT_MAP_LIMIT)
			continue;
		pr_err("the LWK of job %u was given memory at %#llx, and an LWK's direct map ends at %#llx; use other memory\n",
		       instance->job_id, instance->mem[i].start, DIRECT_MAP_LIMIT);
		return -ENOMEM;
	}
	return 0;
}

/* Fills the reserve. 0, -ENOEXEC, -ENOMEM. */
static int fill_reserve(struct instance *instance, struct layout *layout, const void *file,
			u64 size)
{
	void *stacks, *root;
	unsigned int i;
	int error;

	instance->params = take(layout, sizeof(*instance->params));
	instance->status = take(layout, LWK_STATUS_BYTES(instance->n_slots));
	instance->console = take(layout, sizeof(*instance->console));
	instance->controls = take(layout, instance->n_slots * sizeof(*instance->controls));
	instance->grants = take(layout, instance->n_slots * sizeof(*instance->grants));
	instance->clock = take(layout, sizeof(*instance->clock));
	instance->channels = take(layout, instance->n_slots * sizeof(*instance->channels));
	stacks = take(layout, instance->n_cpus * LWK_BOOT_STACK);
	root = take(layout, PAGE_SIZE);
	if (!instance->params || !instance->status || !instance->console || !instance->controls ||
	    !instance->grants || !instance->clock || !instance->channels || !stacks || !root)
		return -ENOMEM;
	layout->page_root = virt_to_phys(root);
	error = load_segments(instance, layout, file, size);
	if (!error)
		error = map_machine(layout);
	for (i = 0; i < instance->n_mem && !error; i++)
		error = map_direct(layout, &instance->mem[i]);
	if (error)
		return error;

	instance->entry = ((const Elf64_Ehdr *)file)->e_entry;
	instance->page_root = layout->page_root;
	instance->stacks = lwk_address(virt_to_phys(stacks));
	instance->reserve_start = layout->start;
	instance->reserve_size = layout->end - layout->start;
	instance->reserve_used = layout->next - layout->start;
	fill_params(instance, layout);
	return 0;
}

int image_load(struct instance *instance, const void *file, u64 size)
{
	struct layout layout = {};
	int error;

	image_unload(instance);
	error = check_header(file, size);
	if (!error)
		error = sort_memory(instance);
	if (error)
		return error;
	instance->n_slots =
		instance->n_cpus * min(LWK_SLOTS_PER_CPU, LWK_MAX_SLOTS / instance->n_cpus);
	layout.start = layout.next = instance->mem[0].start;
	layout.end = layout.start + reserve_size(instance);
	layout.levels = native_read_cr4() & X86_CR4_LA57 ? 5 : 4;
	error = fill_reserve(instance, &layout, file, size);
	if (!error)
		return 0;
	if (error == -ENOMEM)
		pr_err("the LWK of job %u does not fit into its own part of the job's memory, %llu MB (a 64th of it, at least 8 MB and 1 MB for each CPU, in the largest piece); give the job more memory, or memory in larger pieces\n",
		       instance->job_id, (layout.end - layout.start) >> 20);
	image_unload(instance);
	return error;
}

void image_unload(struct instance *instance)
{
	instance->params = NULL;
	instance->status = NULL;
	instance->console = NULL;
	instance->controls = NULL;
	instance->grants = NULL;
	instance->clock = NULL;
	instance->channels = NULL;
	instance->n_segments = 0;
}
