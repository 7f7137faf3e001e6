/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that computes is interrupted for what cannot wait until it waits: an order to let go of
 * a process, a page that a proxy needs, a signal. Other threads that are ready have their turns
 * one after the other. A timer ends a turn; it runs only while another thread is ready or waits
 * with a time limit, so a thread that computes alone has no tick.
 *
 * A CPU looks whether a thread's ready() is true when it has nothing else to do, and before it
 * returns to user mode if 'look' is set. The end of a wait is announced by the doorbell, unless the
 * CPU runs that very thread.
 */
#include "lwk/process/schedule.h"

#include "abi/shared/layout.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/trap.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/time/clock.h"
#include "lwk/time/cpu_timers.h"
#include "lwk/watch/account.h"

/* The turn of a thread while another one is ready. Linux's turns are about as long. */
#define TURN_NS 4000000

static bool thawed(const struct slot *slot)
{
	return !READ_ONCE(slot->control->freeze);
}

bool never(const struct slot *slot)
{
	return false;
}

static bool is_ready(const struct slot *slot)
{
	if (!slot->ready || slot->ready(slot) || (slot->process && channel_disturbs(slot)))
		return true;
	if (slot->process && slot->ready != thawed && READ_ONCE(slot->control->freeze))
		return true;
	return slot->deadline != NO_DEADLINE && clock_monotonic() >= slot->deadline;
}

/* ---- slots come and go ---- */

static void add_counts(u64 *to, const u64 *from, u32 n, u64 sign)
{
	for (u32 i = 0; i < n; i++)
		to[i] += sign * from[i];
}

/* Has the CPU's own slot take over what the slot has counted (sign 1), or take it off (-1). */
static void take_over(const struct cpu *cpu, const struct slot *slot, u64 sign)
{
	const struct lwk_cpu_status *from = slot->status;
	struct lwk_cpu_status *to = cpu->own->status;

	group_begin(&to->times.seq);
	add_counts(to->times.tsc, from->times.tsc, LWK_CPU_STATES, sign);
	group_end(&to->times.seq);
	to->local_calls += sign * from->local_calls;
	to->faults += sign * from->faults;
	to->processes += sign * from->processes;
	to->out_of_memory += sign * from->out_of_memory;
	to->disturbances += sign * from->disturbances;
	add_counts(to->interrupts, from->interrupts, LWK_INTERRUPTS, sign);
	add_counts(to->delegated_calls, from->delegated_calls, LWK_CALL_KINDS, sign);
}

static void set_home(struct slot *slot, const struct cpu *cpu, u32 home, u64 sign)
{
	__atomic_add_fetch(&status->moves_begun, 1, __ATOMIC_SEQ_CST);
	take_over(cpu, slot, sign);
	WRITE_ONCE(slot->status->home, home);
	__atomic_add_fetch(&status->moves_ended, 1, __ATOMIC_SEQ_CST);
}

/* Gives a slot without a CPU to this one. */
static void join(struct slot *slot)
{
	struct slot *current = this_slot();
	struct cpu *cpu = current->cpu;

	slot->node = boot->cpus[cpu->index].node;
	slot->next = current->next;
	current->next = slot;
	cpu->n_busy += slot->process != NULL;
	set_home(slot, cpu, cpu->index + 1, -1UL);
	/* Senders look for the slot at its new place after that; we look here now. */
	STORE_RELEASE(slot->cpu, cpu);
	memory_barrier();
	cpu->look = true;
}

/* Takes in the slots that other CPUs or an order have sent to this CPU. */
static void let_in(struct cpu *cpu)
{
	u32 newcomer = READ_ONCE(cpu->own->control->newcomer);
	struct slot *slot, *next;

	if (READ_ONCE(cpu->arrivals)) {
		slot = __atomic_exchange_n(&cpu->arrivals, NULL, __ATOMIC_ACQUIRE);
		for (; slot; slot = next) {
			next = slot->arrival;
			join(slot);
		}
	}
	if (newcomer < boot->n_cpus || newcomer >= boot->n_slots)
		return;
	slot = slot_at(newcomer);
	if (!LOAD_ACQUIRE(slot->free) || !channel_ordered(slot) ||
	    READ_ONCE(slot->control->cpu) != cpu->index)
		return;
	slot->free = 0;
	join(slot);
}

static void send_to(struct slot *slot, struct cpu *cpu)
{
	slot->arrival = READ_ONCE(cpu->arrivals);
	while (!__atomic_compare_exchange_n(&cpu->arrivals, &slot->arrival, slot, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	apic_send(boot->cpus[cpu->index].apicid, LWK_DOORBELL_VECTOR);
}

void slot_arrive(void)
{
	struct cpu *cpu = this_slot()->cpu;
	struct slot *slot = cpu->leaver, *before = slot;

	if (!slot)
		return;
	cpu->leaver = NULL;
	while (before->next != slot)
		before = before->next;
	before->next = slot->next;
	if (cpu->interrupted == slot)
		cpu->interrupted = NULL;
	cpu->n_busy -= slot->process != NULL;
	set_home(slot, cpu, 0, 1);
	STORE_RELEASE(slot->cpu, NULL);
	if (cpu->leaver_to) {
		send_to(slot, cpu->leaver_to);
		return;
	}
	slot_prepare(slot);
	STORE_RELEASE(slot->control->obeyed, LWK_ORDER_NONE);
}

/* ---- turns ---- */

static struct slot *next_ready(struct slot *slot)
{
	struct slot *interrupted;

	let_in(slot->cpu);
	interrupted = slot->cpu->interrupted;
	if (interrupted && interrupted != slot)
		return interrupted;
	for (struct slot *other = slot->next; other != slot; other = other->next)
		if (is_ready(other))
			return other;
	return NULL;
}

bool slot_others_wait(void)
{
	struct slot *slot = this_slot();

	return slot->cpu->n_busy > 1 && next_ready(slot);
}

static void stop_clock(struct slot *slot, u64 now)
{
	struct lwk_cpu_times *times = &slot->status->times;

	group_begin(&times->seq);
	times->tsc[times->state] += now - times->since_tsc;
	times->since_tsc = LWK_TIME_STANDS;
	group_end(&times->seq);
}

static void start_clock(struct slot *slot, u64 now)
{
	struct lwk_cpu_times *times = &slot->status->times;

	group_begin(&times->seq);
	times->since_tsc = now;
	group_end(&times->seq);
}

/* Gives the turn to another slot; returns when it is this one's again. */
static void switch_to(struct slot *to)
{
	struct slot *from = this_slot();
	struct cpu *cpu = from->cpu;
	u64 now = rdtsc();

	stop_clock(from, now);
	from->fs_base = read_msr(MSR_FS_BASE);
	from->gs_base = read_msr(MSR_KERNEL_GS_BASE);
	from->root = read_cr3();
	fpu_save(from->fpu_switched);

	/* An urgent thread has what is left of the turn that it interrupts. */
	if (cpu->interrupted == to)
		cpu->interrupted = NULL;
	else if (cpu->interrupted != from)
		cpu->turn_end = clock_monotonic() + TURN_NS;
	cpu->look = true;
	/* A thread that changes mappings (tlb.c) must find the CPU in the kernel all the time. */
	beat(to, 1);
	STORE_RELEASE(cpu->current, to);
	beat(from, 1);
	write_msr(MSR_GS_BASE, (u64)to);
	cpu->tss.rsp[0] = to->kernel_rsp;
	WRITE_ONCE(from->channel->lwk_sleeps, 1);
	WRITE_ONCE(to->channel->lwk_sleeps, 0);
	memory_barrier();
	if (to->root != from->root) {
		cpu->tlb_seen = to->process ? LOAD_ACQUIRE(to->process->space.tlb_generation) : 0;
		write_cr3(to->root);
	}
	write_msr(MSR_FS_BASE, to->fs_base);
	write_msr(MSR_KERNEL_GS_BASE, to->gs_base);
	fpu_load(to->fpu_switched);
	start_clock(to, now);
	switch_stack(&from->rsp, to->rsp);
	slot_arrive();
}

void slot_move(struct cpu *to)
{
	struct slot *slot = this_slot(), *next = next_ready(slot);
	struct cpu *cpu = slot->cpu;

	cpu->leaver = slot;
	cpu->leaver_to = to;
	switch_to(next ? next : cpu->own);
}

void slot_yield(void)
{
	struct slot *slot = this_slot(), *next = slot->cpu->n_busy > 1 ? next_ready(slot) : NULL;

	still_alive();
	cpu_relax();
	if (next)
		switch_to(next);
}

/* ---- no thread can go on ---- */

/* Has the timer interrupt this CPU at the time 'at' on the monotonic clock. */
static void set_timer(struct cpu *cpu, u64 at)
{
	u64 now;

	if (at == cpu->timer)
		return;
	cpu->timer = at;
	now = at == NO_DEADLINE ? 0 : clock_monotonic();
	apic_timer(at == NO_DEADLINE ? 0 : at > now ? at - now : 1);
}

/* Linux looks at lwk_sleeps of the slot that it has something for, other CPUs at 'sleeps'. */
static void tell_sleep(struct slot *slot, u32 sleeps)
{
	WRITE_ONCE(slot->channel->lwk_sleeps, sleeps);
	WRITE_ONCE(slot->cpu->sleeps, sleeps);
}

static u64 first_deadline(const struct slot *slot)
{
	u64 first = NO_DEADLINE;

	for (const struct slot *other = slot->next; other != slot; other = other->next)
		first = MIN(first, other->deadline);
	return first;
}

static void halt(void)
{
	leave_kernel();
	halt_with_interrupts();
	heartbeat();
}

static void halt_until(u64 deadline)
{
	struct cpu *cpu = this_slot()->cpu;

	if (deadline != NO_DEADLINE && clock_monotonic() >= deadline)
		return;
	set_timer(cpu, deadline);
	halt();
	set_timer(cpu, NO_DEADLINE);
}

static void sleep(struct slot *slot)
{
	tell_sleep(slot, 1);
	memory_barrier();
	if (!is_ready(slot) && !next_ready(slot))
		halt_until(MIN(slot->deadline, first_deadline(slot)));
	tell_sleep(slot, 0);
}

/* Returns the slot that the halt is counted for: one that has a process, if there is one. */
static struct slot *slot_to_halt(struct slot *slot)
{
	struct slot *other = slot;

	if (slot->cpu->n_busy)
		while (!other->process)
			other = other->next;
	return other;
}

static void wait_for(bool (*ready)(const struct slot *slot), u64 deadline)
{
	struct slot *slot = this_slot(), *next;

	slot->deadline = deadline;
	/* Once 'ready' is set, another thread may look at them (core.c). */
	slot->fs_base = read_msr(MSR_FS_BASE);
	slot->gs_base = read_msr(MSR_KERNEL_GS_BASE);
	STORE_RELEASE(slot->ready, ready);
	while (!is_ready(slot)) {
		next = next_ready(slot);
		if (!next)
			next = slot_to_halt(slot);
		if (next == slot)
			sleep(slot);
		else
			switch_to(next);
	}
	slot->ready = NULL;
	slot->deadline = NO_DEADLINE;
}

void slot_freeze(void)
{
	const struct slot *slot = this_slot();
	u32 former;

	if (!READ_ONCE(slot->control->freeze))
		return;
	former = account(LWK_CPU_FROZEN);
	while (READ_ONCE(slot->control->freeze) && channel_ordered(slot)) {
		channel_serve_fault();
		wait_for(thawed, NO_DEADLINE);
	}
	account(former);
}

void slot_sleep_until(bool (*ready)(const struct slot *slot), u64 deadline)
{
	wait_for(ready, deadline);
	slot_freeze();
}

void slot_sleep(bool (*ready)(const struct slot *slot))
{
	slot_sleep_until(ready, NO_DEADLINE);
}

void slot_wake(const struct slot *slot)
{
	struct cpu *cpu;

	memory_barrier();
	cpu = LOAD_ACQUIRE(slot->cpu);
	/* The CPU that takes a slot in looks then. */
	if (!cpu)
		return;
	if (cpu == this_slot()->cpu)
		cpu->look = true;
	else if (READ_ONCE(cpu->sleeps) || LOAD_ACQUIRE(cpu->current) != slot)
		apic_send(boot->cpus[cpu->index].apicid, LWK_DOORBELL_VECTOR);
}

/* ---- work that cannot wait until a thread waits ---- */

static bool is_urgent(const struct slot *slot)
{
	if (!slot->process)
		return channel_ordered(slot);
	return channel_disturbs(slot) || signal_comes(slot);
}

void slot_run_urgent(void)
{
	struct slot *slot = this_slot();

	let_in(slot->cpu);
	for (struct slot *other = slot->next; other != slot; other = other->next) {
		if (!is_urgent(other) || !is_ready(other))
			continue;
		slot->cpu->interrupted = slot;
		switch_to(other);
	}
}

void slot_take_turns(void)
{
	struct slot *slot = this_slot(), *next;
	struct cpu *cpu = slot->cpu;

	do {
		/*
		 * A slot with urgent work returns to before_user(), which does it and calls again:
		 * two such slots would give the turn to each other for ever.
		 */
		cpu->look = true;
		if (is_urgent(slot))
			return;
		cpu->look = false;
		cpu_timers_expire();
		slot_run_urgent();
		next = next_ready(slot);
		if (next && clock_monotonic() >= cpu->turn_end)
			switch_to(next);
	} while (cpu->look);
	set_timer(cpu, MIN(next ? cpu->turn_end : first_deadline(slot), cpu_timers_deadline()));
}
