/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attack-kernel CASE: does something that no kernel may suffer from. Each case ends with the signal
 * that Linux gives for it, or with exit status 0 after wild system calls. "attack-kernel list"
 * prints the cases.
 */
#define _GNU_SOURCE
/* The faults of this program are intended. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#pragma GCC diagnostic ignored "-Wunused-result"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/shared/layout.h"

static void null_read(void)
{
	(void)*(volatile int *)8;
}

static void kernel_read(void)
{
	(void)*(volatile int *)0xffffffff80000000;
}

static void kernel_write(void)
{
	*(volatile int *)0xffff900000000000 = 1;
}

static void noncanonical_read(void)
{
	(void)*(volatile int *)0x8000000000000000;
}

static void noncanonical_jump(void)
{
	((void (*)(void))0x8000000000000000)();
}

static void kernel_jump(void)
{
	((void (*)(void))0xffffffff80000000)();
}

static void data_execution(void)
{
	static char code[] = { (char)0xc3 };

	((void (*)(void))(uintptr_t)code)();
}

static void code_write(void)
{
	*(volatile char *)(uintptr_t)null_read = 0;
}

static int recurse(int n)
{
	volatile char frame[4096];

	frame[n % 4096] = n;
	return recurse(n + 1) + frame[n % 4096];
}

static void stack_overflow(void)
{
	exit(recurse(0) & 1);
}

#define INSTRUCTION(name, text)                                                                    \
	static void name(void)                                                                     \
	{                                                                                          \
		__asm__ volatile(text ::: "memory", "rax", "rcx", "rdx", "rbx", "r11", "cc");      \
	}
INSTRUCTION(undefined, "ud2")
INSTRUCTION(breakpoint, "int3")
INSTRUCTION(single_step, "pushfq; orq $0x100, (%%rsp); popfq; nop; nop")
INSTRUCTION(step_into_syscall, "pushfq; orq $0x100, (%%rsp); movl $39, %%eax; popfq; syscall; nop")
INSTRUCTION(halt, "hlt")
INSTRUCTION(interrupts_off, "cli")
INSTRUCTION(port, "inb $0x64, %%al")
INSTRUCTION(msr, "movl $0x10, %%ecx; rdmsr")
INSTRUCTION(control_register, "movq %%cr3, %%rax")
INSTRUCTION(swapgs, "swapgs")
INSTRUCTION(sysenter, "sysenter")
INSTRUCTION(int80, "int $0x80")
INSTRUCTION(interrupt_gate, "int $0xf0")
INSTRUCTION(page_fault_gate, "int $14")
INSTRUCTION(bad_stack_fault, "movq $0x10, %%rsp; pushq %%rax")
INSTRUCTION(noncanonical_stack, "movq $-1, %%rsp; shrq $1, %%rsp; pushq %%rax")
INSTRUCTION(divide, "xorl %%ecx, %%ecx; xorl %%edx, %%edx; movl $1, %%eax; divl %%ecx")
INSTRUCTION(bad_segment, "movl $0x40, %%eax; movl %%eax, %%ds")
INSTRUCTION(alignment,
	    "pushfq; orq $0x40000, (%%rsp); popfq; movq %%rsp, %%rax; movl 1(%%rax), %%ecx; ud2")

/* Returns from a signal by a frame that the kernel has not made. */
static void bad_sigreturn(void)
{
	__asm__ volatile("movl $15, %%eax; syscall" ::: "memory");
}

static void sigreturn_into_kernel(void)
{
	uint64_t frame[128];

	memset(frame, 0xff, sizeof(frame));
	__asm__ volatile("movq %0, %%rsp; movl $15, %%eax; syscall" ::"r"(frame + 1) : "memory");
}

/* System calls with a stack that cannot be used: the kernel must not need it. */
static void syscall_without_stack(void)
{
	__asm__ volatile("movq $0x7fffffffffff0000, %%rsp; movl $39, %%eax; syscall; ud2" ::
				 : "memory");
}

static uint64_t wild(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   8,
					   4096,
					   0xffffffff,
					   LWK_USER_END,
					   LWK_USER_END - 4096,
					   0x8000000000000000,
					   0xffff900000000000,
					   0xffffffff80000000,
					   UINT64_MAX,
					   UINT64_MAX - 4095 };

	return values[rand() % (sizeof(values) / sizeof(values[0]))];
}

/* A thread whose first instruction finds no stack. */
static void thread_without_stack(void)
{
	const unsigned long flags = 0x50f00; /* all that threads share */

	syscall(SYS_clone, flags, 8, 0, 0, 0, 0);
	for (;;)
		pause();
}

/* Processes and threads that there cannot be. */
static void wild_clones(void)
{
	const unsigned long thread = 0x50f00;

	for (int i = 0; i < 1000; i++) {
		/* CLONE_NEWUSER and CLONE_THREAD exclude each other. */
		unsigned long flags = (rand() & 0xffffff00) | 0x10010000;

		syscall(SYS_clone, flags, 0, 0, 0, 0, 0);
	}
	syscall(SYS_clone, thread | 0x80000, 0x1000000, 0, 0, 0xffff900000000000, 0);
	_exit(0);
}

/* Futexes anywhere, never waiting for long. */
static void wild_futexes(void)
{
	const long limit[2] = { 0, 1000 };

	for (int i = 0; i < 3000; i++) {
		long operation = (rand() % 14) | (rand() % 2 ? 128 : 0) | (rand() % 4 ? 0 : 256);
		uint64_t values[4] = { 0, 0, 0, 0 };
		uint64_t word = rand() % 3 ? (uint64_t)&values[rand() % 4] + rand() % 4 : wild();

		syscall(SYS_futex, word, operation, rand() % 3 ? 0 : wild(),
			rand() % 3 ? (uint64_t)limit : wild() | 0x8000000000000000,
			rand() % 3 ? (uint64_t)values : wild(), wild());
		syscall(SYS_set_robust_list, wild(), rand() % 2 ? 24 : wild());
	}
	_exit(0);
}

/* Calls that end or stop the process, or wait for what never comes. */
static int excluded(long nr)
{
	static const int calls[] = { SYS_exit,	       SYS_exit_group,
				     SYS_pause,	       SYS_rt_sigsuspend,
				     SYS_rt_sigreturn, SYS_select,
				     SYS_pselect6,     SYS_poll,
				     SYS_ppoll,	       SYS_kill,
				     SYS_tkill,	       SYS_tgkill,
				     SYS_nanosleep,    SYS_clock_nanosleep,
				     SYS_wait4,	       SYS_waitid,
				     SYS_alarm,	       SYS_setitimer,
				     SYS_read,	       SYS_readv,
				     SYS_futex,	       SYS_recvfrom,
				     SYS_recvmsg,      SYS_accept,
				     SYS_accept4,      SYS_flock,
				     SYS_fcntl,	       SYS_epoll_wait,
				     SYS_epoll_pwait,  SYS_recvmmsg,
				     SYS_setrlimit,    SYS_prlimit64,
				     SYS_arch_prctl,   SYS_munmap,
				     SYS_mprotect,     SYS_mremap,
				     SYS_madvise,      SYS_brk,
				     SYS_mmap,	       SYS_vhangup,
				     SYS_fork,	       SYS_vfork,
				     SYS_clone,	       SYS_sync,
				     SYS_syncfs,       SYS_rt_sigtimedwait,
				     SYS_preadv,       SYS_preadv2,
				     SYS_pread64,      SYS_splice,
				     SYS_sendfile };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == nr)
			return 1;
	return 0;
}

static void wild_calls(void)
{
	for (int i = 0; i < 3000; i++) {
		long nr = rand() % 460;

		if (!excluded(nr))
			syscall(nr, wild(), wild(), wild(), wild(), wild(), wild());
	}
	_exit(0);
}

/* Memory calls at odd places, never where this program is. */
static void wild_memory(void)
{
	static const int calls[] = { SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_mmap };

	for (int i = 0; i < 5000; i++) {
		uint64_t at = 0x100000000000 + (rand() % 64) * 0x100000 + (rand() % 4 ? 0 : 4096);
		uint64_t size = rand() % 8 ? (rand() % 1024) * 4096UL : wild();
		int nr = calls[rand() % 5];

		/* madvise(2) discards all that is mapped in a range, be it this program. */
		if (nr == SYS_madvise)
			size %= 1UL << 32;
		syscall(nr, at, size, rand() % 3 ? (uint64_t)(rand() % 8) : size,
			MAP_PRIVATE | MAP_ANONYMOUS | (rand() % 2 ? MAP_FIXED : 0), -1, 0);
		if (rand() % 4 == 0) {
			char *page = mmap((void *)at, 0x100000, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

			if (page != MAP_FAILED)
				memset(page, i, 0x100000);
		}
	}
	_exit(0);
}

static const struct {
	const char *name;
	void (*run)(void);
	int signal; /* 0: exits with status 0; -1: as it happens, which can differ from CPU to CPU */
} cases[] = {
	{ "null_read", null_read, SIGSEGV },
	{ "kernel_read", kernel_read, SIGSEGV },
	{ "kernel_write", kernel_write, SIGSEGV },
	{ "noncanonical_read", noncanonical_read, SIGSEGV },
	{ "noncanonical_jump", noncanonical_jump, SIGSEGV },
	{ "kernel_jump", kernel_jump, SIGSEGV },
	{ "data_execution", data_execution, SIGSEGV },
	{ "code_write", code_write, SIGSEGV },
	{ "stack_overflow", stack_overflow, SIGSEGV },
	{ "undefined", undefined, SIGILL },
	{ "breakpoint", breakpoint, SIGTRAP },
	{ "single_step", single_step, SIGTRAP },
	{ "step_into_syscall", step_into_syscall, SIGTRAP },
	{ "halt", halt, SIGSEGV },
	{ "interrupts_off", interrupts_off, SIGSEGV },
	{ "port", port, SIGSEGV },
	{ "msr", msr, SIGSEGV },
	{ "control_register", control_register, SIGSEGV },
	{ "swapgs", swapgs, SIGSEGV },
	{ "sysenter", sysenter, -1 },
	{ "int80", int80, -1 },
	{ "interrupt_gate", interrupt_gate, SIGSEGV },
	{ "page_fault_gate", page_fault_gate, SIGSEGV },
	{ "bad_stack_fault", bad_stack_fault, SIGSEGV },
	{ "noncanonical_stack", noncanonical_stack, -1 },
	{ "divide", divide, SIGFPE },
	{ "bad_segment", bad_segment, SIGSEGV },
	{ "alignment", alignment, -1 },
	{ "bad_sigreturn", bad_sigreturn, SIGSEGV },
	{ "sigreturn_into_kernel", sigreturn_into_kernel, SIGSEGV },
	{ "syscall_without_stack", syscall_without_stack, SIGILL },
	{ "wild_calls", wild_calls, 0 },
	{ "wild_memory", wild_memory, 0 },
	{ "thread_without_stack", thread_without_stack, SIGSEGV },
	{ "wild_clones", wild_clones, 0 },
	{ "wild_futexes", wild_futexes, 0 },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], "list") == 0) {
			printf("%s %d\n", cases[i].name, cases[i].signal);
		} else if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 99;
		}
	}
	return argc == 2 && strcmp(argv[1], "list") == 0 ? 0 : 98;
}
