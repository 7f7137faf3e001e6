// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies of the status area. The LWK may write anything at any time: each group is copied
 * between two looks at its sequence count, so often and no oftener.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#include "internal.h"

/* Writing a group takes an LWK tens of instructions; this is many times that. */
#define GROUP_TRIES 64

static void copy_words(void *to, const void *from, size_t size)
{
	const u64 *source = from;
	u64 *target = to;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		target[i] = READ_ONCE(source[i]);
}

void usage_copy_group(void *to, const void *from, size_t size)
{
	const u32 *seq = from;
	unsigned int tries;

	for (tries = 0; tries < GROUP_TRIES; tries++) {
		u32 before = smp_load_acquire(seq);

		if (!(before & 1)) {
			copy_words(to, from, size);
			smp_rmb();
			if (READ_ONCE(*seq) == before) {
				*(u32 *)to = before;
				return;
			}
		}
		cpu_relax();
	}
	memset(to, 0, size);
	*(u32 *)to = 1;
}

static void copy_cpu(struct lwk_cpu_status *to, const struct lwk_cpu_status *from,
		     const struct lwk_boot_cpu *cpu)
{
	copy_words(to, from, sizeof(*to));
	usage_copy_group(&to->times, &from->times, sizeof(to->times));
	usage_copy_group(&to->memory, &from->memory, sizeof(to->memory));
	usage_copy_group(&to->counters, &from->counters, sizeof(to->counters));
	/* A physical address is nobody's business. */
	to->page_root = 0;
	to->linux_cpu = cpu->linux_cpu;
	to->linux_node = cpu->node;
}

static void copy_status(struct lwk_status *to, const struct instance *instance)
{
	const struct lwk_status *from = instance->status;
	unsigned int i;

	copy_words(to, from, offsetof(struct lwk_status, cpu));
	copy_lwk_text(to->message, from->message, sizeof(to->message));
	copy_lwk_text(to->version, from->version, sizeof(to->version));
	for (i = 0; i < instance->n_cpus; i++) {
		copy_cpu(&to->cpu[i], &from->cpu[i], &instance->cpus[i]);
		cond_resched();
	}
}

int usage_copy(struct instance *instance, struct lwk_usage *request)
{
	struct lwk_status *copy;
	int error = -ENODATA;

	/* No CPU is added once there is something to copy. */
	request->cpus = READ_ONCE(instance->n_cpus);
	request->length = LWK_STATUS_BYTES(request->cpus);
	request->tsc_khz = tsc_khz;
	if (request->capacity < request->length)
		return -ENOSPC;
	/* Not straight to the user: that may sleep on a lock that waits for rwsem. */
	copy = kvzalloc(request->length, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	down_read(&instance->rwsem);
	if (instance->status && instance->n_cpus == request->cpus) {
		copy_status(copy, instance);
		error = 0;
	}
	up_read(&instance->rwsem);
	request->tsc = rdtsc_ordered();
	if (!error && copy_to_user(u64_to_user_ptr(request->buffer), copy, request->length))
		error = -EFAULT;
	kvfree(copy);
	return error;
}
