// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies an LWK kernel's own memory, for a dump. Memory that the LWK never used is left out: it
 * may hold data of earlier users, another job for example.
 */
#include "instance/watch/dump.h"

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "instance/state.h"
#include "lending/cpu.h"

/* How long CPUs may take to answer an NMI, and how often that is checked. */
#define REGISTERS_MS 1000
#define LOOK_MS 5

/* The LWK tells how much it uses; at least what it was started with counts. */
static u64 used_bytes(const struct instance *instance)
{
	u64 used = READ_ONCE(instance->status->kernel_end);

	used = min(PAGE_ALIGN(min(used, instance->reserve_size)), instance->reserve_size);
	return max(used, instance->reserve_used);
}

/*
 * True when all CPUs have written their registers, or the LWK does not tell a valid place of them.
 * A wrong answer only costs time.
 */
static bool all_registers_known(const struct instance *instance)
{
	u64 offset = READ_ONCE(instance->status->registers);
	const struct lwk_registers *registers;
	unsigned int i;

	if (!offset || offset > instance->reserve_size ||
	    instance->reserve_size - offset < instance->n_cpus * sizeof(*registers))
		return true;
	registers = phys_to_virt(instance->reserve_start + offset);
	for (i = 0; i < instance->n_cpus; i++)
		if (!READ_ONCE(registers[i].known))
			return false;
	return true;
}

/*
 * Makes each CPU of a hung LWK write down its registers, once. The CPUs of an LWK that panicked
 * do so by themselves.
 */
static void ask_for_registers(struct instance *instance)
{
	char message[LWKPART_MESSAGE_LEN];
	enum lwk_state state = instance_tell(instance, message);
	unsigned int i, ms;

	if ((state != LWK_STATE_HUNG && state != LWK_STATE_PANIC) ||
	    READ_ONCE(instance->params->want_registers))
		return;
	WRITE_ONCE(instance->params->want_registers, 1);
	for (i = 0; i < instance->n_cpus && state == LWK_STATE_HUNG; i++)
		cpu_nmi(instance->cpus[i].linux_cpu);
	for (ms = 0; ms < REGISTERS_MS && !all_registers_known(instance); ms += LOOK_MS)
		msleep(LOOK_MS);
}

int dump_layout(struct instance *instance, struct lwkpart_dump_layout *layout)
{
	unsigned int i;

	if (!instance->status)
		return -ENODATA;
	ask_for_registers(instance);
	layout->start = instance->reserve_start;
	layout->bytes = used_bytes(instance);
	layout->count = instance->n_segments;
	for (i = 0; i < instance->n_segments; i++)
		layout->segments[i] = instance->segments[i];
	return 0;
}

int dump_copy(const struct instance *instance, struct lwkpart_dump *request)
{
	u64 used, size = request->size;
	void *copy;
	int error = 0;

	if (!instance->status)
		return -ENODATA;
	used = used_bytes(instance);
	if (request->offset >= used)
		size = 0;
	else if (size > used - request->offset)
		size = used - request->offset;
	request->size = size;
	if (!size)
		return 0;
	/* copy_to_user() may check a page's struct page, which off-line pages do not have. */
	copy = kvmalloc(size, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, phys_to_virt(instance->reserve_start + request->offset), size);
	if (copy_to_user(u64_to_user_ptr(request->buffer), copy, size))
		error = -EFAULT;
	kvfree(copy);
	return error;
}
