/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/watch/panic.h"

#include <stdarg.h>

#include "abi/shared/layout.h"
#include "abi/shared/state.h"
#include "lwk/base/string.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"
#include "lwk/time/clock.h"
#include "lwk/watch/console.h"
#include "lwk/watch/registers.h"

/* gcc's stack protector compares it with its copy on the stack; entry.S chooses it. */
u64 __stack_chk_guard;

void __stack_chk_fail(void) __attribute__((noreturn));
void __stack_chk_fail(void)
{
	panic("CPU %u: a function wrote beyond its part of the stack", this_slot()->cpu->index);
}

/* SAVE stores the registers that a debugger needs to walk the stack. */
#define SAVE(reg) "movq %%" #reg ", %c[" #reg "](%[frame])\n\t"
#define OFFSET(reg) [reg] "i"(offsetof(struct frame, reg))

void panic(const char *format, ...)
{
	static u32 panicked;
	char message[sizeof(status->message)] = "";
	struct frame here = { .cs = KERNEL_CS, .ss = KERNEL_DS, .rflags = RFLAGS_FIXED };
	va_list args;

	__asm__ volatile(SAVE(r15) SAVE(r14) SAVE(r13) SAVE(r12) SAVE(rbp) SAVE(rbx)
				 SAVE(rsp) "leaq 0(%%rip), %%rax; movq %%rax, %c[rip](%[frame])" ::
					 [frame] "D"(&here),
			 OFFSET(r15), OFFSET(r14), OFFSET(r13), OFFSET(r12), OFFSET(rbp),
			 OFFSET(rbx), OFFSET(rsp), OFFSET(rip)
			 : "rax", "memory");
	registers_save(this_slot(), &here);
	/* Only the first panic reports the cause. */
	if (__atomic_exchange_n(&panicked, 1, __ATOMIC_ACQ_REL))
		halt_forever();
	status->panic_cpu = this_slot()->cpu->index;
	va_start(args, format);
	format_text(message, sizeof(message), format, args);
	va_end(args);
	/*
	 * This CPU may hold the lock, or the CPU that holds it may be stuck; a torn line is better
	 * than none.
	 */
	console_force_unlock();
	print("PANIC: %s", message);
	memcpy(status->message, message, sizeof(message));
	status->panic_ns = clock_now(LWK_CLOCK_REALTIME);
	STORE_RELEASE(status->state, LWK_STATE_PANIC);
	/* The other CPUs stop on their way to user mode, and Linux looks at the state. */
	for (u32 i = 0; i < boot->n_cpus; i++)
		apic_send(boot->cpus[i].apicid, LWK_DOORBELL_VECTOR);
	apic_ring_linux(0);
	halt_forever();
}
