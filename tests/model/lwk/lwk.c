// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of the LWK that are not built here, as far as its channel and its scheduler need them. */
#include "lwk.h"

#include "lwk/base/string.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/trap.h"
#include "lwk/memory/fault.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/time/clock.h"
#include "lwk/time/cpu_timers.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

void interrupt_linux(void);
void interrupt_lwk(u32 apicid);

#define CPUS 2

static struct machine {
	struct slot slots[2 * CPUS];
	struct cpu cpus[CPUS];
	u32 pending[CPUS];	 /* 1: an interrupt waits for the CPU */
	struct slot *running[8]; /* what GS points to, by the threads' numbers */
} *machine;

struct lwk_boot_params *boot;
struct lwk_status *status;

/* ---- instructions ---- */

struct slot *this_slot(void)
{
	return machine->running[model_self()];
}

uint64_t read_msr(uint32_t msr)
{
	return 0;
}

uint64_t rdtsc(void)
{
	return model_cycles();
}

#define ICR (MSR_X2APIC + 0x300 / 16)

void write_msr(uint32_t msr, uint64_t value)
{
	if (msr == MSR_GS_BASE)
		machine->running[model_self()] = (void *)value;
	else if (msr == ICR && (u32)value != LWK_DOORBELL_VECTOR)
		interrupt_linux();
	else if (msr == ICR)
		interrupt_lwk(value >> 32);
}

void interrupt_lwk(u32 apicid)
{
	model_post(&machine->pending[apicid], 1);
}

static void acknowledge(struct cpu *cpu)
{
	model_take(&machine->pending[cpu->index], ~0U, 1, 0, 0);
	/* As trap.c has it. */
	cpu->look = true;
}

void halt_with_interrupts(void)
{
	acknowledge(this_slot()->cpu);
}

/* ---- other files of the LWK ---- */

u32 account(u32 state)
{
	struct lwk_cpu_times *times = &this_slot()->status->times;
	u32 former = times->state;

	WRITE_ONCE(times->state, state);
	return former;
}

bool boot_option(const char *option)
{
	return false;
}

struct slot *slot_at(u32 index)
{
	return &machine->slots[index];
}

u64 clock_monotonic(void)
{
	return 0;
}

void process_abandon(void)
{
	for (;;)
		must(!"a process is abandoned");
}

void process_looks(void)
{
	must(!"the ring of a thread that makes one call is full");
}

void process_kill(void)
{
	for (;;)
		must(!"the channel has a count that is possible");
}

int space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks)
{
	return 0;
}

bool space_is_active(void)
{
	return true;
}

void space_revoke(struct space *space, u64 addr, u64 size)
{
	lwk_revokes(addr);
}

void slot_prepare(struct slot *slot)
{
}

void switch_stack(u64 *from, u64 to)
{
	must(!"a CPU of one thread switches");
}

void fpu_save(void *area)
{
}

bool fpu_load(const void *area)
{
	return true;
}

void leave_kernel(void)
{
}

void cpu_timers_expire(void)
{
}

u64 cpu_timers_deadline(void)
{
	return NO_DEADLINE;
}

void print(const char *format, ...)
{
}

/* ---- the CPUs ---- */

static void prepare_slot(u32 index, u32 cpu, struct lwk_channel *channels,
			 struct lwk_control *controls)
{
	struct slot *slot = &machine->slots[index];

	slot->self = slot;
	slot->index = index;
	slot->cpu = &machine->cpus[cpu];
	slot->channel = &channels[index];
	slot->control = &controls[index];
	slot->status = &status->cpu[index];
	slot->deadline = NO_DEADLINE;
	slot->status->home = index < boot->n_cpus ? 0 : cpu + 1;
	if (index < boot->n_cpus)
		return;
	slot->process = &slot->own;
	slot->control->order = slot->control->obeyed = LWK_ORDER_PROCESS;
	slot->own.first = slot;
	slot->own.n_slots = 1;
}

void lwk_prepare(unsigned int cpus, struct lwk_boot_params *params, struct lwk_status *area,
		 struct lwk_channel *channels, struct lwk_control *controls)
{
	machine = model_alloc(sizeof(*machine), 64);
	model_name(machine, sizeof(*machine), "machine");
	boot = params;
	status = area;
	for (u32 i = 0; i < cpus; i++) {
		struct slot *own = &machine->slots[i], *slot = &machine->slots[cpus + i];

		prepare_slot(i, i, channels, controls);
		prepare_slot(cpus + i, i, channels, controls);
		own->next = slot;
		own->ready = never;
		slot->next = own;
		machine->cpus[i] = (struct cpu){
			.index = i, .n_busy = 1, .own = own, .current = slot, .timer = NO_DEADLINE
		};
		model_name(&machine->pending[i], 4, i ? "LWK CPU 1 pending" : "LWK CPU 0 pending");
		/* Only counts. */
		model_ignore(&slot->status->heartbeat, 8);
		model_ignore(&slot->status->delegated_calls, sizeof(slot->status->delegated_calls));
	}
}

void lwk_count_from(u32 count)
{
	for (u32 i = boot->n_cpus; i < 2 * boot->n_cpus; i++)
		machine->slots[i].sent = machine->slots[i].taken = machine->slots[i].received =
			machine->slots[i].next_id = count;
}

void lwk_begin(unsigned int cpu)
{
	machine->running[model_self()] = &machine->slots[boot->n_cpus + cpu];
	this_slot()->status->times.state = LWK_CPU_USER;
}

s64 lwk_call(u64 nr, u64 arg)
{
	return channel_call(FILES, nr, arg);
}

void lwk_interrupted(void)
{
	acknowledge(this_slot()->cpu);
}

void lwk_user_mode(void)
{
	struct slot *slot = this_slot();

	if (READ_ONCE(machine->pending[slot->cpu->index]))
		acknowledge(slot->cpu);
	/* As before_user() has it. */
	slot_freeze();
	if (!channel_ordered(slot))
		process_abandon();
	channel_serve_fault();
}
