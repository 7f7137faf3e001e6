/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/machine/trap.h"

#include <linux/errno.h>
#include <linux/signal.h>

#include "abi/shared/layout.h"
#include "abi/shared/state.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/fixup.h"
#include "lwk/machine/fpu.h"
#include "lwk/machine/machine_check.h"
#include "lwk/machine/state.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/fault.h"
#include "lwk/paging/pages.h"
#include "lwk/paging/tlb.h"
#include "lwk/process/affinity.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/deliver.h"
#include "lwk/time/clock.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"
#include "lwk/watch/counters.h"
#include "lwk/watch/panic.h"
#include "lwk/watch/registers.h"

/*
 * The signal and code that a program gets for an exception of its own, as on Linux. Without a code
 * it gets SI_KERNEL, and no address.
 */
static const struct {
	const char *name;
	u8 signal, code;
} exceptions[X86_EXCEPTIONS] = {
	[X86_DIVIDE] = { "divide error", SIGFPE, FPE_INTDIV },
	[X86_DEBUG] = { "debug trap", SIGTRAP, TRAP_BRKPT },
	[X86_BREAKPOINT] = { "breakpoint", SIGTRAP, 0 },
	[X86_OVERFLOW] = { "overflow", SIGSEGV, 0 },
	[X86_BOUND] = { "bound range exceeded", SIGSEGV, 0 },
	[X86_INVALID_OPCODE] = { "invalid opcode", SIGILL, ILL_ILLOPN },
	[X86_NO_DEVICE] = { "device not available", SIGILL, ILL_ILLOPC },
	[X86_DOUBLE_FAULT] = { "double fault", SIGSEGV, 0 },
	[X86_COPROCESSOR] = { "coprocessor segment overrun", SIGFPE, 0 },
	[X86_INVALID_TSS] = { "invalid TSS", SIGSEGV, 0 },
	[X86_NOT_PRESENT] = { "segment not present", SIGBUS, 0 },
	[X86_STACK] = { "stack segment fault", SIGBUS, 0 },
	[X86_PROTECTION] = { "general protection fault", SIGSEGV, 0 },
	[X86_PAGE_FAULT] = { "page fault", SIGSEGV, SEGV_MAPERR },
	[X86_FLOATING_POINT] = { "floating point error", SIGFPE, FPE_FLTINV },
	[X86_ALIGNMENT] = { "alignment check", SIGBUS, BUS_ADRALN },
	[X86_MACHINE_CHECK] = { "machine check", SIGBUS, BUS_MCEERR_AR },
	[X86_SIMD] = { "SIMD floating point error", SIGFPE, FPE_FLTINV },
	[X86_CONTROL_PROTECTION] = { "control protection fault", SIGSEGV, 0 },
};

static const char *exception_name(u64 vector)
{
	const char *name = vector < X86_EXCEPTIONS ? exceptions[vector].name : NULL;

	return name ? name : "unexpected exception";
}

/* entry.S calls it for double faults. */
__attribute__((noreturn)) void kernel_fault(const struct frame *frame);
void kernel_fault(const struct frame *frame)
{
	account(LWK_CPU_STOPPED);
	registers_save(this_slot(), frame);
	panic("CPU %u: %s (vector %llu, error %llx) at %llx, address %llx, stack %llx",
	      this_slot()->cpu->index, exception_name(frame->vector), frame->vector, frame->error,
	      frame->rip, (u64)read_cr2(), frame->rsp);
}

/* entry.S calls it with the slot, because GS may be the process's. */
void nmi(const struct frame *frame, struct slot *slot);
void nmi(const struct frame *frame, struct slot *slot)
{
	status->cpu[slot->cpu->index].nmis++;
	if (READ_ONCE(boot->want_registers))
		registers_save(slot, frame);
}

static void page_fault(struct frame *frame, u64 addr)
{
	struct process *process = this_process();
	u64 page = ALIGN_DOWN(addr, PAGE_SIZE);
	int error;

	this_slot()->status->faults++;
	account(LWK_CPU_SYSTEM);
	error = frame->error & FAULT_RESERVED
			? -EFAULT
			: space_fault(&process->space, addr, frame->error & FAULT_WRITE,
				      frame->error & FAULT_EXEC, true);
	if (error == -ENOMEM) {
		process->out_of_memory = true;
		process_exit(SIGKILL);
	}
	account(LWK_CPU_USER);
	if (error == -EIO)
		signal_fault(frame, SIGBUS, BUS_ADRERR, addr);
	else if (error)
		/* A page that nobody has touched is not present, though it is mapped. */
		signal_fault(frame, SIGSEGV,
			     space_is_mapped(&process->space, page, 1) ? SEGV_ACCERR : SEGV_MAPERR,
			     addr);
}

/* The program needs memory that is damaged. */
static void memory_error(const struct frame *frame)
{
	u64 phys = machine_check_address();

	print("pid %u: the memory that it needs at %llx is damaged, physical address %llx",
	      this_process()->pid, frame->rip, phys);
	user_page_retire(phys);
}

/* The reasons for debug exceptions add up until they are cleared. */
static int debug_code(void)
{
	u64 reason = read_dr6();

	write_dr6(DR6_NONE);
	return reason & DR6_STEP ? TRAP_TRACE : TRAP_BRKPT;
}

/* Gives the program the signal for any exception but a page fault. */
static void own_fault(struct frame *frame)
{
	int signal = exceptions[frame->vector].signal, code = exceptions[frame->vector].code;
	u64 addr = frame->rip;

	switch (frame->vector) {
	case X86_DEBUG:
		code = debug_code();
		break;
	case X86_ALIGNMENT:
		/* Without AC it was no alignment check. */
		if (!(frame->rflags & RFLAGS_AC)) {
			state_allow_split_locks();
			return;
		}
		addr = 0;
		break;
	case X86_FLOATING_POINT:
	case X86_SIMD:
		code = fpu_signal_code(frame->vector == X86_SIMD);
		break;
	case X86_MACHINE_CHECK:
		memory_error(frame);
		addr = 0;
		break;
	}
	if (!code) {
		code = SI_KERNEL;
		addr = 0;
	}
	signal_fault(frame, signal ? signal : SIGSEGV, code, addr);
}

static void exception(struct frame *frame)
{
	/* Nothing may come between the fault and the reading of CR2. */
	u64 addr = read_cr2();

	if ((frame->cs & 3) == 0) {
		if (!fixup(frame))
			kernel_fault(frame);
		return;
	}
	if (frame->vector == X86_PAGE_FAULT)
		page_fault(frame, addr);
	else
		own_fault(frame);
}

static void interrupt(const struct frame *frame)
{
	struct lwk_cpu_status *own = this_slot()->status;
	struct cpu *cpu = this_slot()->cpu;

	enum lwk_interrupt kind = frame->vector == LWK_DOORBELL_VECTOR ? LWK_INTERRUPT_DOORBELL
				  : frame->vector == TIMER_VECTOR      ? LWK_INTERRUPT_TIMER
				  : frame->vector == 0xff	       ? LWK_INTERRUPT_SPURIOUS
								       : LWK_INTERRUPT_LINUX;

	if (kind == LWK_INTERRUPT_DOORBELL)
		counters_obey();
	if (kind == LWK_INTERRUPT_TIMER)
		cpu->timer = NO_DEADLINE;
	cpu->look = true;
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
	/* Each call here may wait; afterwards the CPU may have more to do, or be another one. */
	do {
		if (READ_ONCE(slot->destination))
			affinity_follow();
		if (slot->cpu->look)
			slot_take_turns();
		if (READ_ONCE(slot->control->freeze))
			slot_freeze();
		if (!channel_ordered(slot) || READ_ONCE(process->ending))
			process_abandon();
		if (channel_fault_waits(slot))
			channel_serve_fault();
		if (signal_comes(slot))
			signal_collect();
		if (signal_waiting(slot) || thread->suspended || thread->interrupted)
			signal_deliver(frame);
	} while (slot->cpu->look || slot->destination);
}
