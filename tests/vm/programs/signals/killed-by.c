/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killed-by CAUSE: is killed in the way that CAUSE names, one of those below. With 'closed' it has
 * closed its standard error before and has the file "killed-by.data" there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define NOT_CANONICAL 0x7000000000000000

static char *volatile nowhere;

static void write_to_null(void)
{
	*nowhere = 1;
}

static void write_to_text(void)
{
	*(volatile char *)(uintptr_t)write_to_text = 1;
}

static void write_to_guard(void)
{
	nowhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*nowhere = 1;
}

static void jump_to_null(void)
{
	__asm__ volatile("xorl %%eax, %%eax; call *%%rax" ::: "rax", "memory");
}

static void unknown_instruction(void)
{
	__asm__ volatile("ud2");
}

static void divide(void)
{
	__asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::
				 : "eax", "ecx", "edx", "cc");
}

static void behind_file(void)
{
	int file = memfd_create("empty", 0);
	char *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);

	if (page != MAP_FAILED)
		nowhere[0] = *(volatile char *)page;
}

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = NOT_CANONICAL;
}

static void set_handler(void)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaction(SIGUSR1, &action, NULL);
}

static void spoil_frame(void)
{
	set_handler();
	raise(SIGUSR1);
}

static void lose_stack(void)
{
	char *stack = mmap(NULL, SIGSTKSZ, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t where = { .ss_sp = stack, .ss_size = SIGSTKSZ };

	sigaltstack(&where, NULL);
	set_handler();
	raise(SIGUSR1);
}

static void with_stderr_closed(void)
{
	close(STDERR_FILENO);
	if (open("killed-by.data", O_WRONLY | O_CREAT | O_TRUNC, 0600) == STDERR_FILENO)
		write_to_null();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*die)(void);
	} causes[] = {
		{ "null", write_to_null },   { "text", write_to_text },
		{ "jump", jump_to_null },    { "instruction", unknown_instruction },
		{ "divide", divide },	     { "file", behind_file },
		{ "frame", spoil_frame },    { "stack", lose_stack },
		{ "abort", abort },	     { "closed", with_stderr_closed },
		{ "guard", write_to_guard },
	};

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (argc == 2 && strcmp(argv[1], causes[i].name) == 0)
			causes[i].die();
	return 1;
}
