// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lays out the LWK kernel's reserve at the start of the partition's largest range: boot
 * parameters, the shared areas, stacks, the image's segments, and the page tables with which
 * its CPUs enter it. lwkshared.h describes the layout for the LWK.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "instance/image/reserve.h"

#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <asm/apic.h>
#include <asm/io.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include "abi/control/ledger.h"
#include "abi/shared/channel.h"
#include "abi/shared/clock.h"
#include "abi/shared/console.h"
#include "abi/shared/grant.h"
#include "abi/shared/orders.h"
#include "abi/shared/status.h"
#include "instance/image/image.h"
#include "instance/image/tables.h"

#define RESERVE_MIN (8UL << 20)
/* A slot needs this much for shared areas, a stack and registers; 16 slots take under 1 MB. */
#define RESERVE_SLOT (44UL << 10)
/*
 * An LWK has so many slots for threads at least for each CPU; more take a 128th of the partition.
 */
#define SLOTS_PER_CPU 16
#define SLOTS_SHARE 128
/* The direct map ends at LWK_LAPIC_VADDR: it has room for 64 TB. */
#define DIRECT_MAP_LIMIT BIT_ULL(46)

static int larger_first(const void *left, const void *right)
{
	const struct lwk_boot_mem *a = left, *b = right;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->start < b->start ? -1 : 1;
}

static u64 partition_size(const struct instance *instance)
{
	u64 total = 0;
	unsigned int i;

	for (i = 0; i < instance->n_mem; i++)
		total += instance->mem[i].size;
	return total;
}

/* Slots for threads, and one for each CPU. */
static unsigned int count_slots(const struct instance *instance)
{
	u64 slots = partition_size(instance) / SLOTS_SHARE / RESERVE_SLOT;

	slots = max_t(u64, slots, instance->n_cpus * SLOTS_PER_CPU) + instance->n_cpus;
	return min_t(u64, slots, LWK_MAX_SLOTS);
}

/*
 * Bytes of the reserve: a 64th of the partition, at least a minimum, and what the slots take; at
 * most the largest range.
 */
static u64 reserve_size(const struct instance *instance)
{
	u64 total = partition_size(instance);

	total = max_t(u64, total / 64, RESERVE_MIN) + instance->n_slots * RESERVE_SLOT;
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

/* Sorts ranges, largest first. -ENOMEM when the direct map does not reach one. */
static int sort_memory(struct instance *instance)
{
	unsigned int i;

	sort(instance->mem, instance->n_mem, sizeof(instance->mem[0]), larger_first, NULL);
	for (i = 0; i < instance->n_mem; i++) {
		if (instance->mem[i].start + instance->mem[i].size <= DIRECT_MAP_LIMIT)
			continue;
		pr_err("the LWK of job %u cannot use its memory at %#llx: an LWK's direct map ends at %#llx; give the job other memory\n",
		       instance->job_id, instance->mem[i].start, DIRECT_MAP_LIMIT);
		return -ENOMEM;
	}
	return 0;
}

/* Fills the reserve: 0, -ENOEXEC, -ENOMEM. */
static int fill(struct instance *instance, struct layout *layout, const void *file, u64 size)
{
	void *stacks, *root;
	unsigned int i;
	int error;

	instance->params = layout_take(layout, sizeof(*instance->params));
	instance->status = layout_take(layout, LWK_STATUS_BYTES(instance->n_slots));
	instance->console = layout_take(layout, sizeof(*instance->console));
	instance->controls = layout_take(layout, instance->n_slots * sizeof(*instance->controls));
	instance->grants = layout_take(layout, instance->n_slots * sizeof(*instance->grants));
	instance->clock = layout_take(layout, sizeof(*instance->clock));
	instance->channels = layout_take(layout, instance->n_slots * sizeof(*instance->channels));
	stacks = layout_take(layout, instance->n_cpus * LWK_BOOT_STACK);
	root = layout_take(layout, PAGE_SIZE);
	if (!instance->params || !instance->status || !instance->console || !instance->controls ||
	    !instance->grants || !instance->clock || !instance->channels || !stacks || !root)
		return -ENOMEM;
	layout->page_root = virt_to_phys(root);
	error = image_load(instance, layout, file, size);
	if (!error)
		error = tables_map_machine(layout);
	for (i = 0; i < instance->n_mem && !error; i++)
		error = tables_map_direct(layout, &instance->mem[i]);
	if (error)
		return error;

	instance->entry = image_entry(file);
	instance->page_root = layout->page_root;
	instance->stacks = lwk_address(virt_to_phys(stacks));
	instance->reserve_start = layout->start;
	instance->reserve_size = layout->end - layout->start;
	instance->reserve_used = layout->next - layout->start;
	fill_params(instance, layout);
	return 0;
}

int reserve_fill(struct instance *instance, const void *file, u64 size)
{
	struct layout layout = {};
	int error;

	reserve_forget(instance);
	error = image_check(file, size);
	if (!error)
		error = sort_memory(instance);
	if (error)
		return error;
	instance->n_slots = count_slots(instance);
	layout.start = layout.next = instance->mem[0].start;
	layout.end = layout.start + reserve_size(instance);
	layout.levels = native_read_cr4() & X86_CR4_LA57 ? 5 : 4;
	error = fill(instance, &layout, file, size);
	if (!error)
		return 0;
	if (error == -ENOMEM)
		pr_err("the LWK of job %u does not fit into its own part of the job's memory, %llu MB (a 40th, at least 8 MB and 1 MB for each CPU, in the largest piece); give the job more memory, or memory in larger pieces\n",
		       instance->job_id, (layout.end - layout.start) >> 20);
	reserve_forget(instance);
	return error;
}

void reserve_forget(struct instance *instance)
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
