/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/trap.h"

#include <linux/errno.h>
#include <linux/signal.h>

#include "abi/shared/layout.h"
#include "abi/shared/statistics.h"
#include "abi/state.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/tlb.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/process/thread.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/deliver.h"
#include "lwk/watch/account.h"
#include "lwk/watch/counters.h"
#include "lwk/watch/panic.h"
#include "lwk/watch/registers.h"

/* The signal and code that a program gets for an exception of its own, as on Linux. */
static const struct {
	const char *name;
	u8 signal, code;
} exceptions[X86_EXCEPTIONS] = {
	[X86_DIVIDE] = { "divide error", SIGFPE, FPE_INTDIV },
	[X86_DEBUG] = { "debug trap", SIGTRAP, TRAP_TRACE },
	[X86_BREAKPOINT] = { "breakpoint", SIGTRAP, 0 },
	[X86_OVERFLOW] = { "overflow", SIGSEGV, 0 },
	[X86_BOUND] = { "bound range exceeded", SIGSEGV, 0 },
	[X86_INVALID_OPCODE] = { "invalid opcode", SIGILL, ILL_ILLOPN },
	[X86_DOUBLE_FAULT] = { "double fault", 0, 0 },
	[X86_STACK] = { "stack segment fault", SIGBUS, 0 },
	[X86_PROTECTION] = { "general protection fault", SIGSEGV, 0 },
	[X86_PAGE_FAULT] = { "page fault", SIGSEGV, SEGV_MAPERR },
	[X86_FLOATING_POINT] = { "floating point error", SIGFPE, FPE_FLTINV },
	[X86_ALIGNMENT] = { "alignment check", SIGBUS, BUS_ADRALN },
	[X86_MACHINE_CHECK] = { "machine check", 0, 0 },
	[X86_SIMD] = { "SIMD floating point error", SIGFPE, FPE_FLTINV },
};

static const char *exception_name(u64 vector)
{
	const char *name = vector < X86_EXCEPTIONS ? exceptions[vector].name : NULL;

	return name ? name : "unexpected exception";
}

static void kernel_fault(const struct frame *frame) __attribute__((noreturn));
static void kernel_fault(const struct frame *frame)
{
	account(LWK_CPU_STOPPED);
	registers_save(this_slot(), frame);
	panic("CPU %u: %s (vector %llu, error %llx) at %llx, address %llx, stack %llx",
	      this_slot()->cpu->index, exception_name(frame->vector), frame->vector, frame->error,
	      frame->rip, (u64)read_cr2(), frame->rsp);
}

/* entry.S calls it for double faults and machine checks, in user mode and in the kernel. */
void emergency(const struct frame *frame);
void emergency(const struct frame *frame)
{
	kernel_fault(frame);
}

/* entry.S calls it with the slot, because GS may be the process's. */
void nmi(const struct frame *frame, struct slot *slot);
void nmi(const struct frame *frame, struct slot *slot)
{
	if (READ_ONCE(boot->want_registers))
		registers_save(slot, frame);
}

static void page_fault(struct frame *frame, u64 addr)
{
	struct process *process = this_process();
	int error;

	this_slot()->status->faults++;
	account(LWK_CPU_SYSTEM);
	error = frame->error & FAULT_RESERVED
			? -EFAULT
			: space_fault(&process->space, addr, frame->error & FAULT_WRITE,
				      frame->error & FAULT_EXEC);
	if (error == -ENOMEM) {
		process->out_of_memory = true;
		process_exit(SIGKILL);
	}
	account(LWK_CPU_USER);
	if (error == -EIO)
		signal_fault(frame, SIGBUS, BUS_ADRERR, addr);
	else if (error)
		signal_fault(frame, SIGSEGV,
			     frame->error & FAULT_PRESENT ? SEGV_ACCERR : SEGV_MAPERR, addr);
}

static void exception(struct frame *frame)
{
	u64 addr = frame->vector == X86_PAGE_FAULT ? read_cr2() : frame->rip;

	if ((frame->cs & 3) == 0)
		kernel_fault(frame);
	if (frame->vector == X86_PAGE_FAULT)
		page_fault(frame, addr);
	else if (exceptions[frame->vector].signal)
		signal_fault(frame, exceptions[frame->vector].signal,
			     exceptions[frame->vector].code, addr);
	else
		kernel_fault(frame);
}

static void interrupt(const struct frame *frame)
{
	struct lwk_cpu_status *own = this_slot()->status;

	enum lwk_interrupt kind = frame->vector == LWK_DOORBELL_VECTOR ? LWK_INTERRUPT_DOORBELL
				  : frame->vector == TIMER_VECTOR      ? LWK_INTERRUPT_TIMER
				  : frame->vector == 0xff	       ? LWK_INTERRUPT_SPURIOUS
								       : LWK_INTERRUPT_LINUX;

	if (kind == LWK_INTERRUPT_DOORBELL)
		counters_obey();
	own->interrupts[kind]++;
	if (this_process())
		tlb_follow(&this_process()->space);
	/* The doorbell may announce another CPU's panic. */
	if (kind == LWK_INTERRUPT_DOORBELL && READ_ONCE(status->state) == LWK_STATE_PANIC)
		registers_save(this_slot(), frame);
	if (frame->cs & 3)
		own->disturbances++;
	/* A spurious interrupt is not in service; Linux's are acknowledged and forgotten. */
	if (kind != LWK_INTERRUPT_SPURIOUS)
		apic_eoi();
}

void trap(struct frame *frame)
{
	heartbeat();
	if (frame->vector < X86_EXCEPTIONS)
		exception(frame);
	else
		interrupt(frame);
	if (frame->cs & 3) {
		before_user(frame);
		leave_kernel();
	} else {
		heartbeat();
	}
}

void leave_kernel(void)
{
	const struct slot *slot = this_slot();
	struct process *process = slot->process;

	if (slot->cpu->counters.due)
		counters_update();
	heartbeat();
	if (process && READ_ONCE(process->n_slots) > 1) {
		/*
		 * A thread that changes mappings looks at the heartbeat after the change (tlb.c).
		 */
		memory_barrier();
		tlb_follow(&process->space);
	}
}

void before_user(struct frame *frame)
{
	struct slot *slot = this_slot();
	struct process *process = slot->process;
	const struct thread *thread = &slot->thread;

	/* After another CPU's panic all memory may be wrong. */
	if (READ_ONCE(status->state) == LWK_STATE_PANIC) {
		account(LWK_CPU_STOPPED);
		halt_forever();
	}
	/* n_busy does not count a slot that has only an order so far. */
	if (slot->cpu->n_busy > 1 || frame->vector == LWK_DOORBELL_VECTOR)
		slot_run_urgent();
	slot_freeze();
	if (!channel_ordered(slot) || READ_ONCE(process->ending))
		process_abandon();
	channel_serve_fault();
	signal_collect();
	if (signal_waiting() || thread->suspended || thread->interrupted)
		signal_deliver(frame);
}
