/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raises each exception that a program can raise, and prints what its signal tells. Prints the same
 * on Linux and on the LWK.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>

#define FLAG_TRAP 0x100
#define FLAG_ALIGNMENT 0x40000
#define NOT_CANONICAL 0x8000000000000000

static sigjmp_buf before;
static struct {
	int signal, code;
	uintptr_t address, instruction;
	long vector, error;
} told;
static unsigned char *page;

/* A handler starts with the alignment flag of the program, and libc is not aligned. */
static void clear_flags(void)
{
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~(FLAG_TRAP | FLAG_ALIGNMENT))
			 : "cc", "memory");
}

static void handler(int signal, siginfo_t *info, void *data)
{
	greg_t *registers = ((ucontext_t *)data)->uc_mcontext.gregs;

	clear_flags();
	told.signal = signal;
	told.code = info->si_code;
	told.address = (uintptr_t)info->si_addr;
	told.instruction = registers[REG_RIP];
	told.vector = registers[REG_TRAPNO];
	told.error = registers[REG_ERR];
	siglongjmp(before, 1);
}

static void divide_by_zero(void)
{
	__asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::
				 : "eax", "ecx", "edx", "cc");
}

static void quotient_too_large(void)
{
	__asm__ volatile("movl $-1, %%ecx; movl $0x80000000, %%eax; cltd; idivl %%ecx" ::
				 : "eax", "ecx", "edx", "cc");
}

static void single_step(void)
{
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq; nop; nop" ::"i"(FLAG_TRAP)
			 : "cc", "memory");
}

static void step_over_call(void)
{
	/* The flag must not reach into the kernel. */
	__asm__ volatile("movl $39, %%eax; pushfq; orq %0, (%%rsp); popfq; syscall; nop; nop" ::"i"(
				 FLAG_TRAP)
			 : "rax", "rcx", "r11", "cc", "memory");
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void in_circuit_breakpoint(void)
{
	__asm__ volatile(".byte 0xf1");
}

static void overflow(void)
{
	__asm__ volatile("int $4");
}

static void kernels_interrupt(void)
{
	__asm__ volatile("int $14");
}

static void machine_check_gate(void)
{
	__asm__ volatile("int $18");
}

static void invalid_opcode(void)
{
	__asm__ volatile("ud2");
}

static void stack_not_canonical(void)
{
	__asm__ volatile(
		"movq %0, %%rcx; movq %%rbp, %%rdx; movq %%rcx, %%rbp; movl (%%rbp), %%eax;"
		"movq %%rdx, %%rbp" ::"i"(NOT_CANONICAL)
		: "rax", "rcx", "rdx");
}

static void data_not_canonical(void)
{
	__asm__ volatile("movl (%0), %%eax" ::"r"(NOT_CANONICAL) : "rax");
}

static void halt(void)
{
	__asm__ volatile("hlt");
}

static void debug_register(void)
{
	__asm__ volatile("movq %0, %%dr7" ::"r"(1UL));
}

static void control_register(void)
{
	__asm__ volatile("movq %%cr4, %0" : "=r"((unsigned long){ 0 }));
}

static void model_specific_register(void)
{
	__asm__ volatile("movl $0x17a, %%ecx; rdmsr" ::: "eax", "ecx", "edx");
}

static void bad_selector(void)
{
	__asm__ volatile("movl $0x7fb, %%eax; movl %%eax, %%es" ::: "eax");
}

static void x87_divide(void)
{
	unsigned short control = 0x37f & ~4;

	__asm__ volatile("fninit; fldcw %0; fld1; fldz; fdivrp; fwait" ::"m"(control));
}

static void sse(unsigned int unmasked, double a, double b)
{
	unsigned int mxcsr = 0x1f80 & ~(unmasked << 7);

	__asm__ volatile("ldmxcsr %0; divsd %2, %1" ::"m"(mxcsr), "x"(a), "x"(b));
}

static void sse_invalid(void)
{
	sse(1, 0, 0);
}

static void sse_divide(void)
{
	sse(4, 1, 0);
}

static void sse_overflow(void)
{
	sse(8, 1e300, 1e-300);
}

static void sse_inexact(void)
{
	sse(32, 1, 3);
}

static void not_aligned(void)
{
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq; movl 1(%1), %%eax" ::"i"(FLAG_ALIGNMENT),
			 "r"(page)
			 : "eax", "cc", "memory");
}

static void read_nothing(void)
{
	__asm__ volatile("movl 8, %%eax" ::: "rax");
}

static void write_constant(void)
{
	*(volatile unsigned char *)page = 1;
}

/* Nobody has touched these pages, so that the CPU finds none. */
static void write_fresh_constant(void)
{
	*(volatile char *)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

static void read_fresh_guard(void)
{
	(void)*(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void execute_data(void)
{
	((void (*)(void))(uintptr_t)page)();
}

static const struct {
	const char *name;
	void (*run)(void);
} faults[] = {
	{ "divide by zero", divide_by_zero },
	{ "quotient too large", quotient_too_large },
	{ "single step", single_step },
	{ "single step over a call", step_over_call },
	{ "breakpoint", breakpoint },
	{ "in-circuit breakpoint", in_circuit_breakpoint },
	{ "overflow", overflow },
	{ "the kernel's interrupt", kernels_interrupt },
	{ "the gate of machine checks", machine_check_gate },
	{ "invalid opcode", invalid_opcode },
	{ "stack not canonical", stack_not_canonical },
	{ "data not canonical", data_not_canonical },
	{ "halt", halt },
	{ "debug register", debug_register },
	{ "control register", control_register },
	{ "model-specific register", model_specific_register },
	{ "bad selector", bad_selector },
	{ "x87 divide", x87_divide },
	{ "SSE invalid", sse_invalid },
	{ "SSE divide", sse_divide },
	{ "SSE overflow", sse_overflow },
	{ "SSE inexact", sse_inexact },
	{ "not aligned", not_aligned },
	{ "read of nothing", read_nothing },
	{ "write to a constant", write_constant },
	{ "write to a fresh constant", write_fresh_constant },
	{ "read of a fresh guard", read_fresh_guard },
	{ "execution of data", execute_data },
};

int main(void)
{
	static const int signals[] = { SIGFPE, SIGTRAP, SIGSEGV, SIGILL, SIGBUS };
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	setvbuf(stdout, NULL, _IOLBF, 0);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		unsigned int mxcsr = 0x1f80;

		memset(&told, 0, sizeof(told));
		if (!sigsetjmp(before, 1))
			faults[i].run();
		__asm__ volatile("fninit; ldmxcsr %0" ::"m"(mxcsr));
		clear_flags();
		printf("%s: signal %d, code %d, %s address, vector %ld, error %lx\n",
		       faults[i].name, told.signal, told.code,
		       !told.address			  ? "no"
		       : told.address == told.instruction ? "the instruction's"
		       : told.address == (uintptr_t)page  ? "the page's"
							  : "another",
		       told.vector, told.error);
	}
	return 0;
}
