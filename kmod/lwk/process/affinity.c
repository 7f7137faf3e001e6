/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set of a thread is in its slot's status, for its proxy to see. A thread changes its CPU only
 * by itself, before it returns to user mode.
 */
#include "lwk/process/affinity.h"

#include "lwk/base/string.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"

/* A ready thread weighs more than one that waits, which may do so for long. */
#define WEIGHT_READY 3
#define WEIGHT_WAITING 1

/* The lock protects the sets of all threads. */
static struct spinlock lock;

struct scene {
	struct cpu_set own, others; /* CPUs with threads of the process, and of other processes */
	u32 weight[LWK_MAX_CPUS];
};

/* Counts the threads of each CPU, without the slot 'but'. The counts may be wrong at once. */
static void look_around(struct scene *scene, const struct process *process, const struct slot *but)
{
	memset(scene, 0, sizeof(*scene));
	for (u32 i = boot->n_cpus; i < boot->n_slots; i++) {
		const struct slot *slot = slot_at(i);
		const struct process *its = LOAD_ACQUIRE(slot->process);
		const struct cpu *cpu = LOAD_ACQUIRE(slot->cpu);
		u32 destination = READ_ONCE(slot->destination);
		u32 index = destination ? destination - 1
			    : cpu	? cpu->index
					: READ_ONCE(slot->control->cpu) % boot->n_cpus;

		if (!its && !channel_ordered(slot))
			continue;
		cpu_set_add(its == process ? &scene->own : &scene->others, index);
		if (slot != but && its && !READ_ONCE(slot->parked))
			scene->weight[index] += READ_ONCE(slot->ready) && !destination
							? WEIGHT_WAITING
							: WEIGHT_READY;
	}
}

/* The set itself, or for the empty set the CPUs that the process has or can have for itself. */
static struct cpu_set usable(const struct cpu_set *set, const struct scene *scene)
{
	struct cpu_set found = { { 0 } };

	if (!cpu_set_is_empty(set))
		return *set;
	for (u32 i = 0; i < boot->n_cpus; i++)
		if (cpu_set_has(&scene->own, i) || !cpu_set_has(&scene->others, i))
			cpu_set_add(&found, i);
	return found;
}

struct cpu_set affinity_of(const struct slot *slot)
{
	struct cpu_set set;

	spin_lock(&lock);
	memcpy(&set, slot->status->allowed, sizeof(set));
	spin_unlock(&lock);
	return set;
}

struct cpu_set affinity_usable(const struct slot *slot)
{
	struct cpu_set set = affinity_of(slot);
	struct scene scene;

	look_around(&scene, LOAD_ACQUIRE(slot->process), NULL);
	return usable(&set, &scene);
}

/* Returns the index of the set's CPU with the least to do, at best that of the slot or near it. */
static u32 choose(const struct slot *slot, const struct cpu_set *set)
{
	const struct cpu *cpu = LOAD_ACQUIRE(slot->cpu);
	u32 now = cpu ? cpu->index : 0, found = now, least = ~0U;
	struct cpu_set candidates;
	struct scene scene;

	look_around(&scene, LOAD_ACQUIRE(slot->process), slot);
	candidates = usable(set, &scene);
	for (u32 i = 0; i < boot->n_cpus; i++) {
		/* The distance decides between equals. */
		u32 cost = 4 * scene.weight[i] + 2 * (boot->cpus[i].node != boot->cpus[now].node) +
			   (i != now);

		if (!cpu_set_has(&candidates, i) || cost >= least)
			continue;
		least = cost;
		found = i;
	}
	return found;
}

static void store(struct slot *slot, const struct cpu_set *set)
{
	spin_lock(&lock);
	memcpy(slot->status->allowed, set, sizeof(*set));
	spin_unlock(&lock);
}

void affinity_set(struct slot *slot, const struct cpu_set *set)
{
	const struct cpu *cpu = LOAD_ACQUIRE(slot->cpu);
	bool stays = cpu && (cpu_set_is_empty(set) || cpu_set_has(set, cpu->index));

	store(slot, set);
	/* A thread that may stay gets a destination, too, because it may be about to leave. */
	WRITE_ONCE(slot->destination, (stays ? cpu->index : choose(slot, set)) + 1);
	memory_barrier();
	if (!stays && cpu && cpu != this_slot()->cpu)
		apic_send(boot->cpus[cpu->index].apicid, LWK_DOORBELL_VECTOR);
}

void affinity_begin(struct slot *slot, const struct cpu_set *set)
{
	store(slot, set);
	WRITE_ONCE(slot->destination, choose(slot, set) + 1);
}

void affinity_follow(void)
{
	struct slot *slot = this_slot();
	u32 destination = __atomic_exchange_n(&slot->destination, 0, __ATOMIC_ACQUIRE);

	if (destination && cpu_at(destination - 1) != slot->cpu)
		slot_move(cpu_at(destination - 1));
}
