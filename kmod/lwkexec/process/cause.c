/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/cause.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lwkexec/instance/memory.h"
#include "lwkexec/instance/session.h"

#define TEXT_SIZE 320
/* The vector of a page fault, and bits of its error code (Intel SDM, volume 3, 4.7). */
#define PAGE_FAULT 14
#define ERROR_PRESENT (1 << 0)
#define ERROR_WRITE (1 << 1)
#define ERROR_EXECUTE (1 << 4)

/* Exceptions whose signal does not say it all. */
static const char *const exceptions[] = {
	[0] = "a division by zero, or a quotient that is too large",
	[1] = "a debug trap",
	[3] = "a breakpoint",
	[6] = "the CPU does not know it, or an LWK does not allow it",
	[7] = "it needs a unit that this CPU does not have",
	[11] = "a segment that is not present",
	[12] = "a stack address that is not canonical",
	[13] = "a privileged instruction, an address that is not canonical, or one not aligned",
	[16] = "a floating-point exception that is not masked",
	[17] = "an address that is not aligned",
	[18] = "the memory that it needs is damaged",
	[19] = "a floating-point exception that is not masked",
};

static struct stat beginning;
static bool has_beginning;

void cause_init(void)
{
	has_beginning = fstat(STDERR_FILENO, &beginning) == 0;
}

static bool may_print(void)
{
	struct stat now;

	return has_beginning && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == beginning.st_dev &&
	       now.st_ino == beginning.st_ino;
}

static void describe_page_fault(char *text, int signal, const struct lwk_cause *cause)
{
	uint64_t error = cause->exception >> 8;
	const char *does = error & ERROR_EXECUTE ? "is at"
			   : error & ERROR_WRITE ? "writes to"
						 : "reads";
	const char *problem = signal == SIGBUS	      ? "and the mapped file has no page there"
			      : error & ERROR_PRESENT ? "which its mapping does not allow"
						      : "where nothing is mapped";

	snprintf(text, TEXT_SIZE, "the instruction at 0x%" PRIx64 " %s address 0x%" PRIx64 ", %s",
		 (uint64_t)cause->at, does, (uint64_t)cause->address, problem);
}

static void describe_exception(char *text, int signal, const struct lwk_cause *cause)
{
	uint64_t vector = cause->exception & 0xff;
	const char *what =
		vector < sizeof(exceptions) / sizeof(*exceptions) ? exceptions[vector] : NULL;

	if (vector == PAGE_FAULT) {
		describe_page_fault(text, signal, cause);
		return;
	}
	snprintf(text, TEXT_SIZE, "the instruction at 0x%" PRIx64 ": %s", (uint64_t)cause->at,
		 what ? what : "an exception of the CPU");
}

static unsigned long long mb(uint64_t bytes)
{
	return bytes >> 20;
}

static void describe_memory(char text[TEXT_SIZE])
{
	const struct lwk_status *status = session.status;

	snprintf(text, TEXT_SIZE,
		 "killed, the LWK is out of memory: the program has %llu MB and wants more, but of "
		 "%llu MB for all processes %llu are free, and of %llu MB for page tables %llu; "
		 "ask for more with --mem",
		 mb(memory_resident()), mb(status->user_bytes),
		 mb(status->user_bytes - memory_used()), mb(status->kernel_bytes),
		 mb(status->kernel_bytes - memory_kernel_used()));
}

void cause_tell(const char *program, int wait_status, const struct lwk_cause *cause,
		const char *core)
{
	int signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
	char text[TEXT_SIZE] = "";

	switch (cause->kind) {
	case LWK_CAUSE_MEMORY:
		describe_memory(text);
		break;
	case LWK_CAUSE_EXCEPTION:
		describe_exception(text, signal, cause);
		break;
	case LWK_CAUSE_STACK:
		snprintf(text, sizeof(text),
			 "its stack has no room for the frame of a signal's handler");
		break;
	case LWK_CAUSE_FRAME:
		snprintf(text, sizeof(text),
			 "a signal's handler has returned to a damaged frame on its stack");
		break;
	}
	if ((!*text && !*core) || !may_print())
		return;
	if (cause->kind == LWK_CAUSE_MEMORY)
		fprintf(stderr, "lwkexec: %s: %s\n", program, text);
	else
		fprintf(stderr, "lwkexec: %s: killed by signal %d (%s)%s%s%s\n", program, signal,
			strsignal(signal), *text ? ": " : "", text, core);
}
