/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/device/watch.h"
#include "abi/shared/status.h"
#include "lwkexec/base/descriptors.h"

#define ENV_REPORT "LWK_REPORT"

static const char *head;
static int device = -1;
static FILE *out;

void report_init(const char *path)
{
	const char *text = getenv(ENV_REPORT);

	head = text ? strdup(text) : NULL;
	unsetenv(ENV_REPORT);
	/* A program may close its standard error when it ends, as coreutils do. */
	if (head)
		report_resume(path, head, dup(STDERR_FILENO));
}

void report_resume(const char *path, const char *text, int file)
{
	head = text;
	/* The report is made when the session's own file of the device is closed. */
	device = descriptor_keep(open(path, O_RDWR | O_CLOEXEC));
	out = fdopen(descriptor_keep(file), "w");
}

const char *report_text(void)
{
	return out ? head : NULL;
}

int report_file(void)
{
	return out ? fileno(out) : -1;
}

struct totals {
	double user, system, delegating; /* seconds */
	uint64_t interrupts, disturbances, local_calls, out_of_memory, peak;
	uint64_t calls[LWK_CALL_KINDS];
};

static double seconds(uint64_t cycles, const struct lwk_usage *usage)
{
	return usage->tsc_khz ? cycles / (usage->tsc_khz * 1e3) : 0;
}

static void add_cpu(const struct lwk_cpu_status *cpu, const struct lwk_usage *usage,
		    struct totals *totals)
{
	totals->user += seconds(cpu->times.tsc[LWK_CPU_USER], usage);
	totals->system += seconds(cpu->times.tsc[LWK_CPU_SYSTEM], usage);
	totals->delegating += seconds(cpu->times.tsc[LWK_CPU_DELEGATING], usage);
	for (int i = 0; i < LWK_INTERRUPTS; i++)
		totals->interrupts += cpu->interrupts[i];
	for (int i = 0; i < LWK_CALL_KINDS; i++)
		totals->calls[i] += cpu->delegated_calls[i];
	totals->disturbances += cpu->disturbances;
	totals->local_calls += cpu->local_calls;
	totals->out_of_memory += cpu->out_of_memory;
	if (cpu->memory.user_peak_bytes > totals->peak)
		totals->peak = cpu->memory.user_peak_bytes;
}

static void print_totals(const struct totals *totals)
{
	static const char *const kinds[LWK_CALL_KINDS] = {
		[LWK_CALLS_TRANSFER] = "transfer", [LWK_CALLS_FILES] = "files",
		[LWK_CALLS_NETWORK] = "network",   [LWK_CALLS_WAIT] = "wait",
		[LWK_CALLS_PROCESS] = "process",   [LWK_CALLS_TIME] = "time",
		[LWK_CALLS_MEMORY] = "memory",
	};
	const char *before = "";

	fprintf(out,
		"lwk: %s; CPU time %.3f s user, %.3f s system, %.3f s waiting for Linux; memory peak %" PRIu64
		" MB; calls %" PRIu64 " local, delegated: ",
		head, totals->user, totals->system, totals->delegating, totals->peak >> 20,
		totals->local_calls);
	for (int i = 0; i < LWK_CALL_KINDS; i++) {
		if (!totals->calls[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, totals->calls[i], kinds[i]);
		before = ", ";
	}
	fprintf(out,
		"%s; interrupts %" PRIu64 ", %" PRIu64 " of them while programs computed; "
		"killed for want of memory: %" PRIu64 "\n",
		*before ? "" : "none", totals->interrupts, totals->disturbances,
		totals->out_of_memory);
}

void report_at_end(void)
{
	struct lwk_usage usage = { .capacity = 0 };
	struct totals totals = { 0 };
	struct lwk_status *copy;

	if (device < 0 || !out)
		return;
	ioctl(device, LWK_GET_USAGE, &usage);
	copy = usage.length ? malloc(usage.length) : NULL;
	usage.buffer = (uintptr_t)copy;
	usage.capacity = usage.length;
	if (!copy || ioctl(device, LWK_GET_USAGE, &usage))
		return;
	for (uint32_t i = 0; i < usage.cpus; i++)
		add_cpu(&copy->cpu[i], &usage, &totals);
	print_totals(&totals);
	fflush(out);
	free(copy);
}
