// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies the status area, which the LWK may write at any time. Each group is copied between two
 * looks at its sequence count, at most GROUP_TRIES times.
 */
#include "instance/watch/usage.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#include "instance/text.h"

/* An LWK writes a group in tens of instructions; so many tries take much longer. */
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

static void add_words(void *to, const void *from, size_t size)
{
	const u64 *source = from;
	u64 *target = to;
	size_t i;

	for (i = 0; i < size / sizeof(u64); i++)
		target[i] += source[i];
}

/* Adds the times of a CPU's slots. The slot whose time does not stand still has the CPU now. */
static void sum_times(struct lwk_cpu_times *to, const struct lwk_cpu_times *from)
{
	add_words(to->tsc, from->tsc, sizeof(to->tsc));
	if (from->since_tsc == LWK_TIME_STANDS)
		return;
	to->state = from->state;
	to->since_tsc = from->since_tsc;
}

static void sum_memory(struct lwk_cpu_memory *to, const struct lwk_cpu_memory *from)
{
	unsigned int i;

	to->pages_4k += from->pages_4k;
	to->pages_2m += from->pages_2m;
	to->peak_bytes = max(to->peak_bytes, from->peak_bytes);
	to->kernel_bytes += from->kernel_bytes;
	to->user_peak_bytes = max(to->user_peak_bytes, from->user_peak_bytes);
	to->kernel_peak_bytes = max(to->kernel_peak_bytes, from->kernel_peak_bytes);
	for (i = 0; i < LWK_STATUS_NODES; i++) {
		to->node[i].pages_4k += from->node[i].pages_4k;
		to->node[i].pages_2m += from->node[i].pages_2m;
		to->node[i].peak_bytes = max(to->node[i].peak_bytes, from->node[i].peak_bytes);
		to->node[i].peak_4k = max(to->node[i].peak_4k, from->node[i].peak_4k);
		to->node[i].peak_2m = max(to->node[i].peak_2m, from->node[i].peak_2m);
	}
}

/* Adds a slot to a sum. A group that could not be read makes that of the sum unreadable. */
static void add_slot(struct lwk_cpu_status *to, const struct lwk_cpu_status *from)
{
	sum_times(&to->times, &from->times);
	to->times.seq |= from->times.seq & 1;
	sum_memory(&to->memory, &from->memory);
	to->memory.seq |= from->memory.seq & 1;
	to->local_calls += from->local_calls;
	to->faults += from->faults;
	to->processes += from->processes;
	to->out_of_memory += from->out_of_memory;
	to->disturbances += from->disturbances;
	add_words(to->interrupts, from->interrupts, sizeof(to->interrupts));
	add_words(to->delegated_calls, from->delegated_calls, sizeof(to->delegated_calls));
}

static void copy_slot(struct lwk_cpu_status *to, const struct lwk_cpu_status *from)
{
	copy_words(to, from, sizeof(*to));
	usage_copy_group(&to->times, &from->times, sizeof(to->times));
	usage_copy_group(&to->memory, &from->memory, sizeof(to->memory));
	usage_copy_group(&to->counters, &from->counters, sizeof(to->counters));
}

/* Sums up the slots of a CPU. Returns how many it ran, as seen; not always 1, as it goes on. */
static unsigned int add_slots(struct lwk_cpu_status *to, const struct instance *instance,
			      unsigned int index, struct lwk_cpu_status *one)
{
	const struct lwk_cpu_status *from = instance->status->cpu;
	unsigned int slot, running;

	copy_slot(to, &from[index]);
	running = to->times.since_tsc != LWK_TIME_STANDS;
	for (slot = instance->n_cpus; slot < instance->n_slots; slot++) {
		u32 home = READ_ONCE(from[slot].home);

		if (home ? home != index + 1 : slot % instance->n_cpus != index)
			continue;
		copy_slot(one, &from[slot]);
		if (!home) {
			/* A CPU's own slot has the other counts of this one. */
			sum_memory(&to->memory, &one->memory);
			continue;
		}
		add_slot(to, one);
		running += one->times.since_tsc != LWK_TIME_STANDS;
	}
	return running;
}

/* An LWK that changes its slots all the time must not keep a reader, who holds rwsem. */
static bool may_try_again(const struct instance *instance, unsigned int *tries)
{
	if (!*tries || READ_ONCE(instance->stopping))
		return false;
	--*tries;
	return true;
}

/*
 * Copies the sum of a CPU's slots; 'one' is scratch space for one slot. '*tries' is how often this may
 * be repeated, for this CPU and those that follow.
 */
static void copy_cpu(struct lwk_cpu_status *to, const struct instance *instance, unsigned int index,
		     struct lwk_cpu_status *one, unsigned int *tries)
{
	unsigned int running;
	bool moved;
	u32 ended;

	do {
		cond_resched();
		ended = smp_load_acquire(&instance->status->moves_ended);
		running = add_slots(to, instance, index, one);
		smp_rmb();
		moved = READ_ONCE(instance->status->moves_begun) != ended;
	} while ((running != 1 || moved) && may_try_again(instance, tries));
	if (to->times.since_tsc == LWK_TIME_STANDS)
		to->times.seq |= 1;
	to->linux_cpu = instance->cpus[index].linux_cpu;
	to->linux_node = instance->cpus[index].node;
}

static void copy_status(struct lwk_status *to, const struct instance *instance,
			struct lwk_cpu_status *one)
{
	const struct lwk_status *from = instance->status;
	unsigned int i, tries = GROUP_TRIES + instance->n_cpus;

	copy_words(to, from, offsetof(struct lwk_status, cpu));
	copy_lwk_text(to->message, from->message, sizeof(to->message));
	copy_lwk_text(to->version, from->version, sizeof(to->version));
	for (i = 0; i < instance->n_cpus; i++)
		copy_cpu(&to->cpu[i], instance, i, one, &tries);
}

int usage_copy(struct instance *instance, struct lwk_usage *request)
{
	struct lwk_status *copy;
	int error = -ENODATA;

	/* The number is fixed once there is a status area. */
	request->cpus = READ_ONCE(instance->n_cpus);
	request->length = LWK_STATUS_BYTES(request->cpus);
	request->tsc_khz = tsc_khz;
	if (request->capacity < request->length)
		return -ENOSPC;
	/*
	 * The copy does not go to the user directly: a page fault may wait for a lock whose holder
	 * waits for rwsem.
	 */
	copy = kvzalloc(request->length + sizeof(*copy->cpu), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	down_read(&instance->rwsem);
	if (instance->status && instance->n_cpus == request->cpus) {
		copy_status(copy, instance, (void *)copy + request->length);
		error = 0;
	}
	up_read(&instance->rwsem);
	request->tsc = rdtsc_ordered();
	if (!error && copy_to_user(u64_to_user_ptr(request->buffer), copy, request->length))
		error = -EFAULT;
	kvfree(copy);
	return error;
}
