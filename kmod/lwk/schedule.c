/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose turn it is on a CPU that several threads share. A thread that waits lets another one go on;
 * one that computes is left alone, but for what cannot wait until it waits: an order to let go of a
 * process, a page that a proxy needs, a signal.
 *
 * Nobody need be told that a thread's wait has ended: the CPU looks, each time that it has nothing
 * else to do, whether what the thread waits for is there. So who brings it rings the doorbell only of
 * a CPU that halts.
 */
#include "lwk.h"

/* entry.S: goes on with the stack 'to', and leaves word where the present one ends. */
void switch_stack(u64 *from, u64 to);

static bool thawed(const struct cpu *cpu)
{
	return !READ_ONCE(cpu->control->freeze) || !channel_ordered(cpu) ||
	       channel_fault_waits(cpu);
}

static bool is_ready(const struct cpu *cpu)
{
	if (!cpu->ready || cpu->ready(cpu))
		return true;
	if (cpu->process && cpu->ready != thawed && READ_ONCE(cpu->control->freeze))
		return true;
	return cpu->deadline != NO_DEADLINE && clock_monotonic() >= cpu->deadline;
}

static struct cpu *next_ready(struct cpu *cpu)
{
	struct cpu *interrupted = cpu->core->interrupted;

	if (interrupted && interrupted != cpu)
		return interrupted;
	for (struct cpu *other = cpu->next; other != cpu; other = other->next)
		if (is_ready(other))
			return other;
	return NULL;
}

bool cpu_others_wait(void)
{
	struct cpu *cpu = this_cpu();

	return cpu->core->n_busy > 1 && next_ready(cpu);
}

static void stop_clock(struct cpu *cpu, u64 now)
{
	struct lwk_cpu_times *times = &cpu->status->times;

	group_begin(&times->seq);
	times->tsc[times->state] += now - times->since_tsc;
	times->since_tsc = LWK_TIME_STANDS;
	group_end(&times->seq);
	WRITE_ONCE(cpu->stopped_tsc, now);
}

static void start_clock(struct cpu *cpu, u64 now)
{
	struct lwk_cpu_times *times = &cpu->status->times;

	group_begin(&times->seq);
	times->since_tsc = now;
	group_end(&times->seq);
	WRITE_ONCE(cpu->start_tsc, cpu->start_tsc + now - cpu->stopped_tsc);
}

static void beat(struct cpu *cpu)
{
	WRITE_ONCE(cpu->status->heartbeat, cpu->status->heartbeat + 1);
}

/* Until it is our turn again. */
static void switch_to(struct cpu *to)
{
	struct cpu *from = this_cpu();
	struct core *core = from->core;
	u64 now = rdtsc();

	stop_clock(from, now);
	from->fs_base = read_msr(MSR_FS_BASE);
	from->gs_base = read_msr(MSR_KERNEL_GS_BASE);
	from->root = read_cr3();
	fpu_save(from->fpu_switched);

	if (core->interrupted == to)
		core->interrupted = NULL;
	/* Who changes mappings (space.c) finds the CPU in the kernel all the time. */
	beat(to);
	STORE_RELEASE(core->current, to);
	beat(from);
	write_msr(MSR_GS_BASE, (u64)to);
	core->tss.rsp[0] = to->kernel_rsp;
	WRITE_ONCE(to->channel->lwk_sleeps, 0);
	memory_barrier();
	if (to->root != from->root) {
		core->tlb_seen = to->process ? LOAD_ACQUIRE(to->process->space.tlb_generation) : 0;
		write_cr3(to->root);
	}
	write_msr(MSR_FS_BASE, to->fs_base);
	write_msr(MSR_KERNEL_GS_BASE, to->gs_base);
	fpu_load(to->fpu_switched);
	start_clock(to, now);
	switch_stack(&from->rsp, to->rsp);
}

void cpu_yield(void)
{
	struct cpu *cpu = this_cpu(), *next = cpu->core->n_busy > 1 ? next_ready(cpu) : NULL;

	if (next)
		switch_to(next);
}

/* ---- nobody can go on ---- */

/* Linux looks at lwk_sleeps of who it has something for. */
static void tell_sleep(struct cpu *cpu, u32 sleeps)
{
	struct cpu *each = cpu;

	do {
		if (each == cpu || each->process)
			WRITE_ONCE(each->channel->lwk_sleeps, sleeps);
		each = each->next;
	} while (each != cpu);
	WRITE_ONCE(cpu->core->sleeps, sleeps);
}

static u64 first_deadline(const struct cpu *cpu)
{
	u64 first = cpu->deadline;

	for (const struct cpu *other = cpu->next; other != cpu; other = other->next)
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
	u64 now = deadline == NO_DEADLINE ? 0 : clock_monotonic();

	if (deadline == NO_DEADLINE) {
		halt();
	} else if (now < deadline) {
		apic_timer(deadline - now);
		halt();
		apic_timer(0);
	}
}

static void sleep(struct cpu *cpu)
{
	tell_sleep(cpu, 1);
	memory_barrier();
	if (!is_ready(cpu) && !next_ready(cpu))
		halt_until(first_deadline(cpu));
	tell_sleep(cpu, 0);
}

/* Whose time it shall be while the CPU halts: of one that has a process, if there is one. */
static struct cpu *who_halts(struct cpu *cpu)
{
	struct cpu *other = cpu;

	if (cpu->core->n_busy)
		while (!other->process)
			other = other->next;
	return other;
}

static void wait_for(bool (*ready)(const struct cpu *cpu), u64 deadline)
{
	struct cpu *cpu = this_cpu(), *next;

	cpu->deadline = deadline;
	cpu->ready = ready;
	while (!is_ready(cpu)) {
		next = next_ready(cpu);
		if (!next)
			next = who_halts(cpu);
		if (next == cpu)
			sleep(cpu);
		else
			switch_to(next);
	}
	cpu->ready = NULL;
	cpu->deadline = NO_DEADLINE;
}

void cpu_freeze(void)
{
	const struct cpu *cpu = this_cpu();
	u32 former;

	if (!READ_ONCE(cpu->control->freeze))
		return;
	former = account(LWK_CPU_FROZEN);
	while (READ_ONCE(cpu->control->freeze) && channel_ordered(cpu)) {
		channel_serve_fault();
		wait_for(thawed, NO_DEADLINE);
	}
	account(former);
}

void cpu_sleep_until(bool (*ready)(const struct cpu *cpu), u64 deadline)
{
	wait_for(ready, deadline);
	cpu_freeze();
}

void cpu_sleep(bool (*ready)(const struct cpu *cpu))
{
	cpu_sleep_until(ready, NO_DEADLINE);
}

void cpu_wake(const struct cpu *cpu)
{
	memory_barrier();
	if (READ_ONCE(cpu->core->sleeps))
		apic_send(boot->cpus[cpu->core->index].apicid, LWK_DOORBELL_VECTOR);
}

/* ---- what cannot wait until a thread waits ---- */

static bool presses(const struct cpu *cpu)
{
	if (!cpu->process)
		return channel_ordered(cpu);
	return !channel_ordered(cpu) || channel_fault_waits(cpu) || signal_comes(cpu);
}

void cpu_see_to_others(void)
{
	struct cpu *cpu = this_cpu();

	for (struct cpu *other = cpu->next; other != cpu; other = other->next) {
		if (!presses(other))
			continue;
		/* If it is in a call that its signal ends, the reply shall ring, too. */
		WRITE_ONCE(other->channel->lwk_sleeps, 1);
		memory_barrier();
		if (!is_ready(other))
			continue;
		cpu->core->interrupted = cpu;
		switch_to(other);
	}
}
