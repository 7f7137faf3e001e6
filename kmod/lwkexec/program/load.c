/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts a program into the LWK process's memory: its segments, and the stack that the
 * x86-64 psABI (section 3.4.1) describes. The memory is ours to write, through the
 * window, once the LWK has mapped it.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

#define PAGE 4096UL
/* What a program gets that may have any stack, or none worth the name. */
#define STACK_DEFAULT (64UL << 20)
#define STACK_MIN (128UL << 10)
/* Linux keeps arguments and environment below a quarter of the stack, so do we. */
#define ARGUMENTS_SHARE 4

static void map(const char *name, uint64_t start, uint64_t size, bool now)
{
	const uint64_t args[6] = { start, size, PROT_READ | PROT_WRITE, now };
	int64_t error = channel_call(LWK_CALL_MAP, args);

	if (error == -ENOMEM)
		fail(EXIT_LWK,
		     "%s: needs %llu MB at 0x%llx and the LWK has %llu MB free of %llu; ask for more with --mem",
		     name, (unsigned long long)size >> 20, (unsigned long long)start,
		     (unsigned long long)(session.status->user_bytes - self_lwk_used()) >> 20,
		     (unsigned long long)session.status->user_bytes >> 20);
	if (error)
		fail(EXIT_CANNOT_RUN, "%s: memory at 0x%llx, 0x%llx bytes: %s", name,
		     (unsigned long long)start, (unsigned long long)size,
		     error == -EEXIST ? "its segments overlap; link it anew" : strerror(-error));
}

static void load_segment(const struct elf_file *elf, const struct segment *segment, uint32_t file)
{
	const uint64_t protect[6] = { segment->start, segment->end - segment->start,
				      segment->prot };
	const uint64_t named[6] = { segment->start, segment->end - segment->start, file,
				    segment->offset - (segment->data - segment->start) };
	uint64_t done = 0;

	map(elf->name, segment->start, segment->end - segment->start, true);
	while (done < segment->size) {
		ssize_t n = pread(elf->fd, (void *)(segment->data + done), segment->size - done,
				  segment->offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail(EXIT_CANNOT_RUN, "%s: cannot be loaded: %s", elf->name,
			     n < 0 ? strerror(errno) : "the file is shorter than its headers say");
		done += n;
	}
	if (segment->prot != (PROT_READ | PROT_WRITE) && channel_call(LWK_CALL_PROTECT, protect))
		fail(EXIT_LWK, "%s: its memory cannot be protected; the LWK is out of memory",
		     elf->name);
	if (file)
		channel_call(LWK_CALL_NAME, named);
}

static void load_file(const struct elf_file *elf)
{
	uint32_t file = maps_file(elf->fd);

	for (size_t i = 0; i < elf->n_segments; i++)
		load_segment(elf, &elf->segments[i], file);
	close(elf->fd);
}

static uint64_t stack_size(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur > session.status->user_bytes / 4)
		return STACK_DEFAULT;
	return ((limit.rlim_cur < STACK_MIN ? STACK_MIN : limit.rlim_cur) + PAGE - 1) & ~(PAGE - 1);
}

/* The stack while it is written, downwards. */
struct stack {
	uint64_t pointer, floor;
};

static uint64_t push(struct stack *stack, const void *bytes, size_t size)
{
	if (size > stack->pointer - stack->floor)
		fail(EXIT_CANNOT_RUN,
		     "arguments and environment are longer than a quarter of the stack; shorten them, or raise ulimit -s");
	stack->pointer -= size;
	memcpy((void *)stack->pointer, bytes, size);
	return stack->pointer;
}

static size_t count(char **strings)
{
	size_t n = 0;

	while (strings[n])
		n++;
	return n;
}

/* Pushes the strings and writes their addresses, with a final 0, to 'table'. */
static void push_strings(struct stack *stack, char **strings, uint64_t *table)
{
	size_t n = count(strings);

	for (size_t i = 0; i < n; i++)
		table[i] = push(stack, strings[i], strlen(strings[i]) + 1);
	table[n] = 0;
}

static uint64_t build_stack(const struct program *program, char **envp)
{
	const struct elf_file *elf = &program->elf;
	char **argv = program->argv;
	uint64_t size = stack_size(), top = STACK_TOP;
	struct stack stack = { top, top - size / ARGUMENTS_SHARE };
	size_t argc = count(argv), envc = count(envp);
	uint8_t random[16];
	uint64_t table[1 + argc + 1 + envc + 1], name, platform, seed;

	map(program->name, top - size, size, false);
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		fail(EXIT_LWK, "no random bytes for the program: %s", strerror(errno));
	name = push(&stack, program->exec_path, strlen(program->exec_path) + 1);
	platform = push(&stack, "x86_64", sizeof("x86_64"));
	seed = push(&stack, random, sizeof(random));
	table[0] = argc;
	push_strings(&stack, envp, table + 1 + argc + 1);
	push_strings(&stack, argv, table + 1);

	const Elf64_auxv_t auxv[] = {
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
	push(&stack, auxv, sizeof(auxv));
	return push(&stack, table, sizeof(table));
}

void load_and_start(const struct program *program, char **envp, uint64_t blocked, uint64_t ignored)
{
	const struct elf_file *elf = &program->elf, *interpreter = &program->interpreter;
	uint64_t entry = interpreter->n_segments ? interpreter->entry : elf->entry;
	const uint64_t heap[6] = { elf->end };
	uint64_t start[6] = { entry, 0, blocked, ignored, getuid() };
	int64_t error;

	load_file(elf);
	if (interpreter->n_segments)
		load_file(interpreter);
	if (channel_call(LWK_CALL_BRK, heap))
		fail(EXIT_CANNOT_RUN, "%s: no room for its heap at 0x%llx", program->name,
		     (unsigned long long)elf->end);
	start[1] = build_stack(program, envp);
	error = channel_call(LWK_CALL_START, start);
	if (error)
		fail(EXIT_CANNOT_RUN, "%s: cannot be started at 0x%llx: %s", program->name,
		     (unsigned long long)entry, strerror(-error));
}
