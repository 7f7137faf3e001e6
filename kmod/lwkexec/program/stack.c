/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/program/stack.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lwkexec/base/fail.h"
#include "lwkexec/base/strings.h"
#include "lwkexec/instance/session.h"

#define PAGE 4096UL
/* A stack without a limit (ulimit -s) where the limit of all addresses is one, as it counts there. */
#define STACK_WITH_LIMITED_ADDRESSES (64UL << 20)
/* There are 64 GB of addresses below STACK_TOP that mappings take last. */
#define STACK_MAX (32UL << 30)
#define STACK_MIN (128UL << 10)
/* As on Linux, arguments and environment get at most a quarter of the stack, and 6 MB. */
#define ARGUMENTS_SHARE 4
#define ARGUMENTS_MAX (6UL << 20)

static uint64_t limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Pages of the stack are made when they are touched, so a large one costs addresses only. */
uint64_t stack_size(void)
{
	uint64_t size = limit_of(RLIMIT_STACK);

	if (size == RLIM_INFINITY && limit_of(RLIMIT_AS) != RLIM_INFINITY)
		size = STACK_WITH_LIMITED_ADDRESSES;
	size = least(size, least(session.status->user_bytes / 2, STACK_MAX));
	return ((size < STACK_MIN ? STACK_MIN : size) + PAGE - 1) & ~(PAGE - 1);
}

/* The stack while it is written, from its end down to the floor. */
struct stack {
	uint64_t pointer, floor;
};

static uint64_t push(struct stack *stack, const void *bytes, size_t size)
{
	if (size > stack->pointer - stack->floor)
		fail(EXIT_CANNOT_RUN,
		     "arguments and environment are longer than a quarter of the stack or 6 MB; shorten them, or raise ulimit -s");
	stack->pointer -= size;
	memcpy((void *)stack->pointer, bytes, size);
	return stack->pointer;
}

/* Pushes the strings, and writes their addresses and a final 0 to 'table'. */
static void push_strings(struct stack *stack, char **strings, uint64_t *table)
{
	size_t n = strings_count(strings);

	for (size_t i = 0; i < n; i++)
		table[i] = push(stack, strings[i], strlen(strings[i]) + 1);
	table[n] = 0;
}

#define AUXV 21
static Elf64_auxv_t written[AUXV];

const Elf64_auxv_t *stack_auxv(size_t *size)
{
	*size = sizeof(written);
	return written;
}

uint64_t stack_build(const struct program *program, char **envp, uint64_t size)
{
	const struct elf_file *elf = &program->elf;
	char **argv = program->argv;
	struct stack stack = { STACK_TOP,
			       STACK_TOP - least(size / ARGUMENTS_SHARE, ARGUMENTS_MAX) };
	size_t argc = strings_count(argv), envc = strings_count(envp);
	uint8_t random[16];
	uint64_t table[1 + argc + 1 + envc + 1], name, platform, seed;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		fail(EXIT_LWK, "no random bytes for the program: %s", strerror(errno));
	name = push(&stack, program->exec_path, strlen(program->exec_path) + 1);
	platform = push(&stack, "x86_64", sizeof("x86_64"));
	seed = push(&stack, random, sizeof(random));
	table[0] = argc;
	push_strings(&stack, envp, table + 1 + argc + 1);
	push_strings(&stack, argv, table + 1);

	const Elf64_auxv_t auxv[AUXV] = {
		{ AT_SYSINFO_EHDR, { LWK_VDSO_VADDR } },
		{ AT_PHDR, { elf->headers } },
		{ AT_PHENT, { elf->header_size } },
		{ AT_PHNUM, { elf->n_headers } },
		{ AT_PAGESZ, { PAGE } },
		{ AT_BASE, { program->interpreter.bias } },
		{ AT_FLAGS, { 0 } },
		{ AT_ENTRY, { elf->entry } },
		{ AT_UID, { getuid() } },
		{ AT_EUID, { geteuid() } },
		{ AT_GID, { getgid() } },
		{ AT_EGID, { getegid() } },
		{ AT_SECURE, { 0 } },
		{ AT_RANDOM, { seed } },
		{ AT_HWCAP, { getauxval(AT_HWCAP) } },
		{ AT_HWCAP2, { getauxval(AT_HWCAP2) } },
		{ AT_CLKTCK, { sysconf(_SC_CLK_TCK) } },
		{ AT_PLATFORM, { platform } },
		{ AT_EXECFN, { name } },
		{ AT_MINSIGSTKSZ, { getauxval(AT_MINSIGSTKSZ) } },
		{ AT_NULL, { 0 } },
	};

	stack.pointer &= ~15UL;
	if ((sizeof(auxv) + sizeof(table)) % 16)
		stack.pointer -= 8;
	memcpy(written, auxv, sizeof(auxv));
	push(&stack, auxv, sizeof(auxv));
	return push(&stack, table, sizeof(table));
}
