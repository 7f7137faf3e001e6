// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames of signal handlers, which lie in a program's memory: sigreturn with whatever registers and
 * floating-point state a program puts there must not give it more than user mode, nor raise a fault
 * in the LWK; and a signal's frame brings back what it interrupted.
 */
#include <linux/errno.h>
#include <setjmp.h>

#include "lwk/base/string.h"
#include "lwk/calls/local.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/fpu.h"
#include "lwk/memory/user.h"
#include "lwk/process/process.h"
#include "lwk/process/slot.h"
#include "lwk/signals/action.h"
#include "lwk/signals/deliver.h"
#include "lwk/signals/info.h"

#include "fuzz.h"
#include "lwk/fixups.h"

#define MEMORY 0x10000000UL
#define MEMORY_BYTES 65536

long syscall(long number, ...);
#define SYS_arch_prctl 158
#define ARCH_SET_GS 0x1001

static u8 memory[MEMORY_BYTES] __attribute__((aligned(4096)));
static u8 fpu_area[32768] __attribute__((aligned(64)));
static struct slot slot;
static jmp_buf ended;

uint64_t simulated_cr3, simulated_cr4 = CR4_OSXSAVE;

/* ---- other files of the LWK ---- */

static void *at_user(u64 user, size_t size)
{
	return user >= MEMORY && size <= MEMORY_BYTES && user - MEMORY <= MEMORY_BYTES - size
		       ? memory + (user - MEMORY)
		       : NULL;
}

int copy_from_user(void *to, u64 from, size_t size)
{
	void *user = at_user(from, size);

	if (!user)
		return -EFAULT;
	memcpy(to, user, size);
	/* This process keeps its own rights to memory (PKRU), which an LWK never looks at. */
	if (to == fpu_area)
		fpu_area[512 + 1] &= ~2;
	return 0;
}

int copy_to_user(u64 to, const void *from, size_t size)
{
	void *user = at_user(to, size);

	if (!user)
		return -EFAULT;
	memcpy(user, from, size);
	return 0;
}

void process_exit(int wait_status)
{
	longjmp(ended, 1);
}

void channel_send_notice(u64 nr, const u64 args[6])
{
}

void print(const char *format, ...)
{
}

u64 signal_all_pending(void)
{
	return 0;
}

bool signal_take(int signal, struct lwk_signal *taken)
{
	return false;
}

void signal_hold(void)
{
}

void signal_unsuspend(void)
{
	this_thread()->suspended = false;
}

bool signal_ignored(const struct process *process, int signal)
{
	return false;
}

/* ---- what a program does ---- */

static struct input input;

static void take_frame(struct frame *frame)
{
	take_bytes(&input, frame, sizeof(*frame));
	frame->cs = USER_CS;
	frame->ss = USER_DS;
	frame->rflags = (frame->rflags & RFLAGS_USER) | RFLAGS_IF | RFLAGS_FIXED;
	frame->rip %= LWK_USER_END;
	/* Most stacks are in memory that is there. */
	if (frame->rsp & 1)
		frame->rsp = MEMORY + frame->rsp % MEMORY_BYTES;
}

static void check_frame(const struct frame *frame)
{
	must(frame->cs == USER_CS && frame->ss == USER_DS);
	must(!(frame->rflags & ~(RFLAGS_USER | RFLAGS_IF | RFLAGS_FIXED)));
	must(frame->rflags & RFLAGS_IF);
	must(frame->rip < LWK_USER_END || frame->rip - LWK_VDSO_VADDR < LWK_VDSO_BYTES);
	must(!(slot.thread.blocked & SIGNALS_UNBLOCKABLE));
}

static void handle_and_return(void)
{
	int signal = 1 + take_byte(&input) % SIGNALS;
	struct signal_action *action = &slot.own.actions[signal - 1];
	struct frame before, frame;

	take_bytes(&input, action, sizeof(*action));
	/* rt_sigaction(2) refuses others. */
	action->handler %= LWK_USER_END;
	take_frame(&before);
	frame = before;
	signal_fault(&frame, signal, 1, take_number(&input, 8));
	check_frame(&frame);
	if (frame.rip != action->handler)
		return;
	must(frame.rsp % 16 == 8);
	/* The handler's own return takes the first word off the stack. */
	frame.rsp += sizeof(u64);
	sys_rt_sigreturn(&frame);
	check_frame(&frame);
	must(frame.rip == before.rip && frame.rsp == before.rsp && frame.rax == before.rax);
	must(frame.r15 == before.r15 && frame.rcx == before.rcx && frame.r11 == before.r11);
	must(frame.rflags == before.rflags);
}

static void return_to_anything(void)
{
	struct frame frame;

	take_frame(&frame);
	for (unsigned int n = take_byte(&input) % 64; n && input.left; n--) {
		u32 at = take_number(&input, 2) % (MEMORY_BYTES - 8);

		take_bytes(&input, memory + at, 1 + take_byte(&input) % 8);
	}
	sys_rt_sigreturn(&frame);
	check_frame(&frame);
}

static void choose_altstack(void)
{
	struct frame frame = { .rdi = MEMORY + 8 * take_byte(&input), .rsi = MEMORY };

	take_bytes(&input, memory + (frame.rdi - MEMORY), sizeof(stack_t));
	if (sys_sigaltstack(&frame) == 0)
		must((u64)slot.thread.altstack.ss_sp <= LWK_USER_END ||
		     slot.thread.altstack.ss_flags & SS_DISABLE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;

	memset(&slot, 0, sizeof(slot));
	slot.self = &slot;
	slot.process = &slot.own;
	slot.fpu_area = fpu_area;
	slot.thread.altstack.ss_flags = SS_DISABLE;
	if (!ready) {
		syscall(SYS_arch_prctl, ARCH_SET_GS, &slot);
		fixups_follow();
		fpu_inspect();
		must(fpu_size() <= sizeof(fpu_area));
		ready = true;
	}
	input = (struct input){ data, size };
	for (size_t at = 0; at < MEMORY_BYTES; at += 4096)
		take_bytes(&input, memory + at, take_byte(&input) % 64);
	if (setjmp(ended) == 0) {
		while (input.left) {
			switch (take_byte(&input) % 3) {
			case 0:
				handle_and_return();
				break;
			case 1:
				return_to_anything();
				break;
			case 2:
				choose_altstack();
				break;
			}
			fpu_reset();
		}
	}
	fpu_reset();
	return 0;
}
