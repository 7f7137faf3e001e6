/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/program/load.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/shared/calls.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/instance/channel.h"
#include "lwkexec/instance/memory.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/instance/window.h"
#include "lwkexec/program/mapped_files.h"
#include "lwkexec/program/stack.h"

#define PAGE 4096UL

/*
 * Has the LWK map the memory, which the proxy then writes through its window. Pages that it does not make now
 * are made when the program touches them, on the NUMA node of the CPU that does.
 */
static void map(const char *name, uint64_t start, uint64_t size, uint32_t prot, bool now)
{
	const uint64_t args[6] = { start, size, prot, now };
	int64_t error = channel_call(LWK_CALL_MAP, args);

	if (error == -ENOMEM)
		fail(EXIT_LWK,
		     "%s: needs %llu MB at 0x%llx and the LWK has %llu MB free of %llu; ask for more with --mem",
		     name, (unsigned long long)size >> 20, (unsigned long long)start,
		     (unsigned long long)(session.status->user_bytes - memory_used()) >> 20,
		     (unsigned long long)session.status->user_bytes >> 20);
	if (error)
		fail(EXIT_CANNOT_RUN, "%s: expected 0x%llx bytes of memory at 0x%llx: %s", name,
		     (unsigned long long)size, (unsigned long long)start,
		     error == -EEXIST ? "its segments overlap; link it again" : strerror(-error));
}

static uint64_t page_end(uint64_t address)
{
	return (address + PAGE - 1) & ~(PAGE - 1);
}

static void load_segment(const struct elf_file *elf, const struct segment *segment, uint32_t file)
{
	/* The rest, .bss, has nothing of the file. */
	uint64_t in_file =
		segment->size ? page_end(segment->data + segment->size) - segment->start : 0;
	const uint64_t protect[6] = { segment->start, segment->end - segment->start,
				      segment->prot };
	const uint64_t named[6] = { segment->start, in_file, file,
				    segment->offset - (segment->data - segment->start) };
	uint64_t done = 0;

	if (in_file)
		map(elf->name, segment->start, in_file, PROT_READ | PROT_WRITE, true);
	if (segment->start + in_file < segment->end)
		map(elf->name, segment->start + in_file, segment->end - segment->start - in_file,
		    PROT_READ | PROT_WRITE, false);
	while (done < segment->size) {
		ssize_t n = pread(elf->fd, (void *)(segment->data + done), segment->size - done,
				  segment->offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			fail(EXIT_CANNOT_RUN, "%s: cannot be loaded: %s; copy or link it again",
			     elf->name,
			     n < 0 ? strerror(errno) : "the file is shorter than its headers say");
		done += n;
	}
	if (segment->prot != (PROT_READ | PROT_WRITE) && channel_call(LWK_CALL_PROTECT, protect))
		fail(EXIT_LWK,
		     "%s: its memory cannot be protected, as the LWK is out of memory; ask for more with --mem",
		     elf->name);
	if (file && in_file)
		channel_call(LWK_CALL_NAME, named);
}

static void load_file(const struct elf_file *elf)
{
	uint32_t file = mapped_file_number(elf->fd);

	for (size_t i = 0; i < elf->n_segments; i++)
		load_segment(elf, &elf->segments[i], file);
	close(elf->fd);
}

/*
 * Writes the set to where the LWK reads it before the program runs: below the first stack pointer, where
 * nothing is yet.
 */
static uint64_t write_cpus(uint64_t stack_pointer, const struct numbers *cpus)
{
	_Static_assert(sizeof(*cpus) == LWK_CPUS_BYTES, "as of sched_setaffinity(2)");
	uint64_t address = stack_pointer - sizeof(*cpus);

	memcpy((void *)address, cpus, sizeof(*cpus));
	return address;
}

void load_and_start(const struct program *program, char **envp, uint64_t blocked, uint64_t ignored,
		    const struct numbers *cpus)
{
	const struct elf_file *elf = &program->elf, *interpreter = &program->interpreter;
	uint64_t entry = interpreter->n_segments ? interpreter->entry : elf->entry;
	const uint64_t heap[6] = { elf->end };
	uint64_t start[6] = { entry, 0, blocked, ignored, getuid() };
	uint64_t size = stack_size();
	int64_t error;

	if (window_reserve())
		fail(EXIT_LWK, "%s: the LWK is out of memory; ask for more with --mem",
		     program->name);
	load_file(elf);
	if (interpreter->n_segments)
		load_file(interpreter);
	if (channel_call(LWK_CALL_BRK, heap))
		fail(EXIT_CANNOT_RUN,
		     "%s: expected room for its heap at 0x%llx, found none; link it without special addresses",
		     program->name, (unsigned long long)elf->end);
	map(program->name, STACK_TOP - size, size,
	    PROT_READ | PROT_WRITE | (elf->executable_stack ? PROT_EXEC : 0), false);
	start[1] = stack_build(program, envp, size);
	start[5] = cpus ? write_cpus(start[1], cpus) : 0;
	error = channel_call(LWK_CALL_START, start);
	if (error)
		fail(EXIT_CANNOT_RUN, "%s: cannot be started at 0x%llx: %s", program->name,
		     (unsigned long long)entry, strerror(-error));
}
