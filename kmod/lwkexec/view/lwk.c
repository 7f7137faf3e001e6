/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/lwk.h"

#include "lwkexec/instance/channel.h"
#include "lwkexec/instance/memory.h"
#include "lwkexec/instance/session.h"

static uint64_t sum(const __u64 *words, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += words[i];
	return total;
}

void lwk_print(FILE *out)
{
	const struct lwk_status *lwk = session.status;
	const struct lwk_cpu_status *cpu = &lwk->cpu[own.index];
	uint32_t index, linux_cpu;
	const struct {
		const char *name;
		unsigned long long value;
	} facts[] = {
		{ "cpus", session.cpus },
		{ "interrupts", sum(cpu->interrupts, LWK_INTERRUPTS) },
		{ "doorbells", cpu->interrupts[LWK_INTERRUPT_DOORBELL] },
		{ "disturbances", cpu->disturbances },
		{ "local_calls", cpu->local_calls },
		{ "delegated_calls", sum(cpu->delegated_calls, LWK_CALL_KINDS) },
		{ "kernel_calls", channel_served() + channel_served_by_server() },
		{ "server_calls", channel_served_by_server() },
		{ "page_faults", cpu->faults },
		{ "pages_4k", memory_of_process()->pages_4k },
		{ "pages_2m", memory_of_process()->pages_2m },
		{ "peak_bytes", memory_of_process()->peak_bytes },
		{ "user_bytes", lwk->user_bytes },
		{ "user_free", lwk->user_bytes - memory_used() },
		{ "kernel_bytes", lwk->kernel_bytes },
		{ "kernel_free", lwk->kernel_bytes - memory_kernel_used() },
	};

	fprintf(out, "version %.*s\n", (int)sizeof(lwk->version), lwk->version);
	if (session_own_cpu(&index, &linux_cpu))
		fprintf(out, "cpu %u\ncpu_index %u\n", linux_cpu, index);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		fprintf(out, "%s %llu\n", facts[i].name, facts[i].value);
}
