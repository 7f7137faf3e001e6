// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image that an administrator gives the module: a mistake in it must not write outside the
 * partition, and the page tables map what its segments say, within the reserve.
 */
#include "instance/image/image.h"

#define START 0x40000000UL
#define BYTES (256UL << 10)
#define TABLE_BITS 9

static u8 reserve[BYTES] __attribute__((aligned(4096)));
unsigned int simulated_levels = 4;

void scribble(void)
{
}

void *phys_to_virt(u64 physical)
{
	must(physical >= START && physical < START + BYTES);
	return reserve + (physical - START);
}

u64 virt_to_phys(const void *virt)
{
	const u8 *at = virt;

	must(at >= reserve && at < reserve + BYTES);
	return START + (at - reserve);
}

static void check_page(const struct instance *instance, u64 address, u64 entry)
{
	u64 physical = entry & PTE_PFN_MASK;
	bool found = false;

	must(address >= LWK_IMAGE_BASE && address < LWK_IMAGE_LIMIT);
	must(!(entry & _PAGE_USER) && (!(entry & _PAGE_RW) || entry & _PAGE_NX));
	for (unsigned int i = 0; i < instance->n_segments; i++) {
		const struct lwkpart_dump_segment *segment = &instance->segments[i];

		found |= address >= segment->address &&
			 address - segment->address < segment->size &&
			 physical == segment->start + (address - segment->address);
	}
	must(found);
}

static void check_table(const struct instance *instance, const struct layout *layout, u64 table,
			unsigned int level, u64 address)
{
	const u64 *entries = phys_to_virt(table);

	must(table >= layout->start && table < layout->next);
	for (u64 i = 0; i < 1UL << TABLE_BITS; i++) {
		u64 at = address | i << (12 + TABLE_BITS * (level - 1));

		if (!entries[i])
			continue;
		if (at & 1UL << (11 + TABLE_BITS * simulated_levels))
			at |= ~0UL << (12 + TABLE_BITS * simulated_levels);
		if (level == 1)
			check_page(instance, at, entries[i]);
		else
			check_table(instance, layout, entries[i] & PTE_PFN_MASK, level - 1, at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct instance instance;
	struct layout layout = { .start = START, .next = START, .end = START + BYTES };
	/* At the end of its memory, so that reading behind it is seen. */
	void *file = malloc(size + 1);

	memcpy(file, data, size);
	simulated_levels = layout.levels = size % 2 ? 5 : 4;
	instance.n_segments = 0;
	layout.page_root = virt_to_phys(layout_take(&layout, PAGE_SIZE));
	if (image_check(file, size) == 0 && image_load(&instance, &layout, file, size) == 0) {
		must(instance.n_segments && instance.n_segments <= LWKPART_MAX_SEGMENTS);
		check_table(&instance, &layout, layout.page_root, layout.levels, 0);
		image_entry(file);
	}
	free(file);
	return 0;
}
