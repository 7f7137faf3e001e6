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

/* The time that CPUs get to answer an NMI, and the time between two looks for answers. */
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
 * do so by themselves. With 'life' held, so that nobody stops the CPUs meanwhile.
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
	int error = -ENODATA;
	unsigned int i;

	if (mutex_lock_killable(&instance->life))
		return -EINTR;
	if (instance->status) {
		ask_for_registers(instance);
		layout->start = instance->reserve_start;
		layout->bytes = used_bytes(instance);
		layout->count = instance->n_segments;
		for (i = 0; i < instance->n_segments; i++)
			layout->segments[i] = instance->segments[i];
		error = 0;
	}
	mutex_unlock(&instance->life);
	return error;
}

/* Copies to Linux's memory as many bytes as there are: their number, or -ENODATA. With 'life'. */
static long copy_some(const struct instance *instance, u64 offset, u64 size, void *copy)
{
	u64 used;

	if (!instance->status)
		return -ENODATA;
	used = used_bytes(instance);
	if (offset >= used)
		return 0;
	size = min(size, used - offset);
	memcpy(copy, phys_to_virt(instance->reserve_start + offset), size);
	return size;
}

int dump_copy(struct instance *instance, struct lwkpart_dump *request)
{
	/*
	 * The bytes do not go to the user directly: copy_to_user() may check a page's struct page,
	 * which off-line pages do not have, and may wait, for which the instance's end must not
	 * wait.
	 */
	void *copy = kvmalloc(request->size, GFP_KERNEL);
	long size = -EINTR;

	if (!copy)
		return -ENOMEM;
	if (!mutex_lock_killable(&instance->life)) {
		size = copy_some(instance, request->offset, request->size, copy);
		mutex_unlock(&instance->life);
	}
	if (size > 0 && copy_to_user(u64_to_user_ptr(request->buffer), copy, size))
		size = -EFAULT;
	kvfree(copy);
	if (size < 0)
		return size;
	request->size = size;
	return 0;
}
