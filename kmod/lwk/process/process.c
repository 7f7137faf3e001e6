/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a process: lwkpart.ko orders one, its proxy loads a program into it and
 * starts it, it ends, and lwkpart.ko withdraws the order when the proxy is gone.
 */
#include "lwk/process/process.h"

#include <linux/errno.h>
#include <linux/signal.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/calls/local.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/trap.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/mapping.h"
#include "lwk/memory/visit.h"
#include "lwk/paging/direct_map.h"
#include "lwk/process/affinity.h"
#include "lwk/process/core.h"
#include "lwk/process/fork.h"
#include "lwk/process/futex.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"
#include "lwk/watch/panic.h"

static s64 load_map(struct space *space, const u64 args[6])
{
	s64 addr = space_map(space, args[0], args[1], args[2], PLACE_EXACT, false);

	if (addr < 0)
		return addr;
	return args[3] ? space_populate(space, addr, ALIGN_UP(args[1], PAGE_SIZE)) : 0;
}

static s64 load_brk(struct space *space, const u64 args[6])
{
	if (args[0] < LWK_USER_START || args[0] >= LWK_USER_END)
		return -EINVAL;
	space->brk_start = space->brk = ALIGN_UP(args[0], PAGE_SIZE);
	return 0;
}

/* Gives a new program the signals that are blocked and ignored from the start. */
static void inherit_signals(u64 blocked, u64 ignored)
{
	this_thread()->blocked = blocked & ~SIGNALS_UNBLOCKABLE;
	for (int s = 1; s <= SIGNALS; s++)
		if (ignored & ~SIGNALS_UNBLOCKABLE & SIGNAL_BIT(s))
			this_process()->actions[s - 1].handler = HANDLER_IGNORE;
}

static __attribute__((noreturn)) void start(u64 entry, u64 stack)
{
	struct frame frame = {
		.rip = entry,
		.cs = USER_CS,
		.rflags = RFLAGS_IF | RFLAGS_FIXED,
		.rsp = stack,
		.ss = USER_DS,
	};

	/* lwk(7): sites and tests see what a fault of the LWK itself does. */
	if (boot_option("inject=fault"))
		*(volatile u32 *)LWK_IMAGE_LIMIT = 0;
	if (boot_option("inject=stack"))
		*(volatile u8 *)(this_slot()->kernel_rsp - KERNEL_STACK - 1) = 0;
	if (boot_option("inject=text"))
		*(volatile u8 *)direct_map_of(syscall_entry) = 0;
	if (boot_option("inject=panic"))
		panic("injected");
	while (boot_option("inject=hang"))
		cpu_relax();
	signal_ask_for_ignored(this_thread()->blocked);
	visit_allow(true);
	fpu_reset();
	write_msr(MSR_FS_BASE, 0);
	write_msr(MSR_KERNEL_GS_BASE, 0);
	account(LWK_CPU_USER);
	before_user(&frame);
	leave_kernel();
	enter_user(&frame);
}

/* Does what the proxy asks for while it loads a program, or a copy of its parent. */
static s64 load(struct space *space, u64 nr, const u64 args[6])
{
	switch (nr) {
	case LWK_CALL_MAP:
		return load_map(space, args);
	case LWK_CALL_BRK:
		return load_brk(space, args);
	case LWK_CALL_PROTECT:
		return space_protect(space, args[0], args[1], args[2]);
	case LWK_CALL_RESERVE:
		return space_reserve(space, args[0], args[1]);
	case LWK_CALL_NAME:
		space_set_file(space, args[0], args[1], args[2], args[3]);
		return 0;
	case LWK_CALL_START:
		if (args[0] >= LWK_USER_END || args[1] > LWK_USER_END)
			return -EINVAL;
		inherit_signals(args[2], args[3]);
		this_process()->uid = args[4];
		return args[5] ? sys_sched_setaffinity(
					 &(struct frame){ .rsi = LWK_CPUS_BYTES, .rdx = args[5] })
			       : 0;
	case LWK_CALL_COPY:
		return fork_adopt(args[0], args[1]);
	default:
		return -ENOSYS;
	}
}

void process_run(void)
{
	struct slot *slot = this_slot();
	struct process *process = &slot->own;
	struct lwk_packet packet;
	struct cpu_set cpus = { { 0 } };
	s64 error;

	memset(process, 0, sizeof(*process));
	process->pid = READ_ONCE(slot->control->pid);
	process->first = slot;
	process->n_slots = 1;
	process->n_threads = 1;
	thread_init(&slot->thread, process->pid);
	if (slot->heritage.pid == process->pid) {
		slot->thread.policy = slot->heritage.policy;
		process->past_time = slot->heritage.time;
		cpus = slot->heritage.cpus;
	}
	slot->heritage.pid = 0;
	slot->start.ready = 0;
	slot->borrowed = slot->held = 0;
	STORE_RELEASE(slot->process, process);
	slot->cpu->n_busy++;
	affinity_set(slot, &cpus);
	channel_reset();
	account(LWK_CPU_LOADING);
	slot->status->processes++;
	cpu_time_begin(slot);
	STORE_RELEASE(slot->control->obeyed, LWK_ORDER_PROCESS);

	if (space_init(&process->space)) {
		process->out_of_memory = true;
		process_exit(SIGKILL);
	}
	space_activate(&process->space);
	for (;;) {
		channel_receive(&packet);
		error = load(&process->space, packet.nr, packet.args);
		/* Linux walks tables that have had an area, so they are none to give up for a copy. */
		if (process->space.areas)
			WRITE_ONCE(slot->control->page_root, process->space.root);
		channel_reply(packet.id, error);
		if (!error && packet.nr == LWK_CALL_START)
			start(packet.args[0], packet.args[1]);
		if (!error && packet.nr == LWK_CALL_COPY)
			fork_run();
	}
}

void process_kick(struct process *process)
{
	struct cpu_set cpus = { { 0 } };

	/* A slot on its way to a CPU looks by itself. */
	for (u32 i = boot->n_cpus; i < boot->n_slots; i++) {
		const struct cpu *cpu = LOAD_ACQUIRE(slot_at(i)->cpu);

		if (cpu && cpu != this_slot()->cpu && LOAD_ACQUIRE(slot_at(i)->process) == process)
			cpu_set_add(&cpus, cpu->index);
	}
	for (u32 i = 0; i < boot->n_cpus; i++)
		if (cpu_set_has(&cpus, i))
			apic_send(boot->cpus[i].apicid, LWK_DOORBELL_VECTOR);
}

void process_goes_on(void)
{
	struct slot *slot = this_slot();

	still_alive();
	slot_freeze();
	if (!channel_ordered(slot) || READ_ONCE(slot->process->ending))
		process_abandon();
	channel_serve_fault();
	slot_run_urgent();
}

void process_looks(void)
{
	if (!channel_ordered(this_slot()))
		process_abandon();
	channel_serve_fault();
	slot_freeze();
	slot_yield();
}

void process_kill(void)
{
	struct process *process = this_process();

	if (!__atomic_exchange_n(&process->ending, 1, __ATOMIC_ACQ_REL))
		process_kick(process);
	process_abandon();
}

void process_exit(int wait_status)
{
	struct process *process = this_process();

	/* Threads of other processes may wait for what it has locked. */
	if (!READ_ONCE(process->ending))
		futex_release_robust(this_thread());
	/* The first of several threads that end it gives the status. */
	if (__atomic_exchange_n(&process->ending, 1, __ATOMIC_ACQ_REL))
		process_abandon();
	process_kick(process);
	if (process->out_of_memory) {
		process->cause.kind = LWK_CAUSE_MEMORY;
		this_slot()->status->out_of_memory++;
		print("pid %u: killed, the partition is out of memory (the process had %llu MB)",
		      process->pid, process->space.peak_bytes >> 20);
	}
	core_tell(wait_status & 0x7f);
	channel_notice(LWK_CALL_EXIT, wait_status, process->cause.kind, process->cause.exception,
		       process->cause.at, process->cause.address);
	process_abandon();
}

void process_abandon(void)
{
	struct slot *slot = this_slot();
	struct process *process = slot->process;

	account(LWK_CPU_EXITED);
	/* Other threads of the process may go on for a while, and find this slot in their lists. */
	futex_forget(slot);
	fork_withdraw();
	WRITE_ONCE(slot->parked, 0);
	/* Until the order is withdrawn, the proxy may look into the memory. */
	while (channel_ordered(slot)) {
		channel_serve_fault();
		slot_sleep(never);
	}
	WRITE_ONCE(slot->control->page_root, 0);
	space_leave();
	if (process->first == slot) {
		visit_allow(false);
		/* The orders of the other slots have been withdrawn before this one. */
		while (LOAD_ACQUIRE(process->n_slots) > 1)
			slot_yield();
		if (process->waiters)
			panic("pid %u: a thread that has ended still waits for a futex",
			      process->pid);
		pending_end(process);
		cpu_timers_end();
		if (!fork_return() && process->space.root)
			space_destroy(&process->space);
	} else {
		__atomic_sub_fetch(&process->n_slots, 1, __ATOMIC_RELEASE);
	}
	STORE_RELEASE(slot->process, NULL);
	slot->cpu->n_busy--;
	restart_slot();
}
