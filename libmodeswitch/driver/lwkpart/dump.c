// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the memory of an lwkpart instance's kernel, and the registers that the LWK wrote there. The
 * LWK may have written anything, so numbers are checked before they are used.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "driver/lwkpart/lwkpart.h"

static int read_layout(int dev, unsigned instance, uint32_t job_id, struct dump_layout *layout)
{
	struct lwkpart_dump_layout argument = { .instance = instance, .job_id = job_id };

	if (ioctl(dev, LWKPART_DUMP_LAYOUT, &argument) < 0)
		return -errno;
	_Static_assert(DUMP_MAX_SEGMENTS == LWKPART_MAX_SEGMENTS, "as many");
	*layout = (struct dump_layout){
		.start = argument.start,
		.bytes = argument.bytes,
		.address = LWK_DIRECT_MAP + argument.start,
		.n_segments = argument.count,
	};
	for (uint32_t i = 0; i < argument.count; i++)
		layout->segments[i] = (struct dump_segment){
			.address = argument.segments[i].address,
			.start = argument.segments[i].start,
			.bytes = argument.segments[i].size,
		};
	return 0;
}

static ssize_t read_memory(int dev, unsigned instance, uint32_t job_id, uint64_t offset,
			   void *buffer, size_t size)
{
	struct lwkpart_dump argument = { .instance = instance,
					 .job_id = job_id,
					 .offset = offset,
					 .buffer = (uintptr_t)buffer,
					 .size = size < LWKPART_MAX_DUMP ? size
									 : LWKPART_MAX_DUMP };

	return ioctl(dev, LWKPART_DUMP, &argument) < 0 ? -errno : (ssize_t)argument.size;
}

/* Reads memory at a physical address. Returns false if not all of it is in the dump. */
static bool read_at(int dev, unsigned instance, uint32_t job_id, const struct dump_layout *layout,
		    uint64_t address, void *buffer, size_t size)
{
	if (address < layout->start || address - layout->start > layout->bytes ||
	    size > layout->bytes - (address - layout->start))
		return false;
	return read_memory(dev, instance, job_id, address - layout->start, buffer, size) ==
	       (ssize_t)size;
}

static void convert(const struct lwk_registers *from, struct dump_cpu *to)
{
	to->registers = (struct user_regs_struct){
		.r15 = from->r15,
		.r14 = from->r14,
		.r13 = from->r13,
		.r12 = from->r12,
		.rbp = from->rbp,
		.rbx = from->rbx,
		.r11 = from->r11,
		.r10 = from->r10,
		.r9 = from->r9,
		.r8 = from->r8,
		.rax = from->rax,
		.rcx = from->rcx,
		.rdx = from->rdx,
		.rsi = from->rsi,
		.rdi = from->rdi,
		.orig_rax = -1ULL,
		.rip = from->rip,
		.cs = from->cs,
		.eflags = from->rflags,
		.rsp = from->rsp,
		.ss = from->ss,
		.fs_base = from->fs_base,
		.gs_base = from->gs_base,
	};
}

static ssize_t read_registers(int dev, unsigned instance, uint32_t job_id,
			      struct dump_cpu cpus[DUMP_MAX_CPUS])
{
	static struct lwk_registers all[LWK_MAX_CPUS];
	static struct lwk_boot_params params;
	static struct lwk_status status;
	const size_t status_bytes = offsetof(struct lwk_status, cpu);
	struct dump_layout layout;
	uint32_t first;
	ssize_t n = 0;
	int error = read_layout(dev, instance, job_id, &layout);

	_Static_assert(DUMP_MAX_CPUS == LWK_MAX_CPUS, "as many");
	if (error)
		return error;
	if (!read_at(dev, instance, job_id, &layout, layout.start, &params,
		     offsetof(struct lwk_boot_params, mem)) ||
	    params.magic != LWK_SHARED_MAGIC || params.n_cpus > LWK_MAX_CPUS ||
	    !read_at(dev, instance, job_id, &layout, params.status, &status, status_bytes) ||
	    !status.registers ||
	    !read_at(dev, instance, job_id, &layout, layout.start + status.registers, all,
		     params.n_cpus * sizeof(*all)))
		return 0;
	/* The CPU that panicked comes first, because a debugger begins with the first one. */
	first = status.panic_cpu < params.n_cpus ? status.panic_cpu : 0;
	for (uint32_t i = 0; i < params.n_cpus; i++) {
		uint32_t index = (first + i) % params.n_cpus;

		if (!all[index].known)
			continue;
		convert(&all[index], &cpus[n]);
		cpus[n++].cpu = params.cpus[index].linux_cpu;
	}
	return n;
}

const struct dumping dumping_lwkpart = {
	.layout = read_layout,
	.read = read_memory,
	.registers = read_registers,
};
