// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The LWK writes the status area, and it may be broken or hostile. So counts are added without
 * wrapping, sizes are at most the partition's, times are at most as long as the TSC runs, and
 * enumerations are looked up only when they are in their range.
 */
#include "driver/lwkpart/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/counters.h"

#define PAGE_4K 4096ULL
#define PAGE_2M (2ULL << 20)

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

static uint64_t at_least(uint64_t value, uint64_t limit)
{
	return value > limit ? value : limit;
}

static uint64_t pages_to_bytes(uint64_t pages, uint64_t size, const struct usage_bounds *bounds)
{
	return at_most(pages, bounds->memory / size) * size;
}

static uint64_t to_ns(uint64_t cycles, const struct usage_bounds *bounds)
{
	return (unsigned __int128)at_most(cycles, bounds->tsc) * 1000000 / bounds->tsc_khz;
}

static enum ms_cpu_doing doing(uint32_t state)
{
	static const enum ms_cpu_doing known[LWK_CPU_STATES] = {
		[LWK_CPU_OFF] = MS_CPU_OFF,	  [LWK_CPU_IDLE] = MS_CPU_IDLE,
		[LWK_CPU_LOADING] = MS_CPU_IDLE,  [LWK_CPU_USER] = MS_CPU_USER,
		[LWK_CPU_SYSTEM] = MS_CPU_SYSTEM, [LWK_CPU_DELEGATING] = MS_CPU_DELEGATING,
		[LWK_CPU_WAITING] = MS_CPU_IDLE,  [LWK_CPU_EXITED] = MS_CPU_IDLE,
		[LWK_CPU_FROZEN] = MS_CPU_FROZEN, [LWK_CPU_STOPPED] = MS_CPU_STOPPED,
	};

	return state < LWK_CPU_STATES ? known[state] : MS_CPU_OFF;
}

static void add_time(struct ms_counts *counts, uint32_t state, uint64_t ns)
{
	uint64_t *to = &counts->idle_ns;

	switch (doing(state)) {
	case MS_CPU_USER:
		to = &counts->user_ns;
		break;
	case MS_CPU_SYSTEM:
		to = &counts->system_ns;
		break;
	case MS_CPU_DELEGATING:
		to = &counts->delegating_ns;
		break;
	case MS_CPU_OFF:
		return;
	default:
		break;
	}
	*to = add(*to, ns);
}

static void read_times(const struct lwk_cpu_times *times, const struct usage_bounds *bounds,
		       struct ms_cpu_usage *cpu)
{
	uint32_t state = times->state;

	cpu->doing = doing(state);
	cpu->has_process = state < LWK_CPU_STATES && state != LWK_CPU_OFF &&
			   state != LWK_CPU_IDLE && state != LWK_CPU_EXITED;
	for (uint32_t s = 0; s < LWK_CPU_STATES; s++)
		add_time(&cpu->counts, s, to_ns(times->tsc[s], bounds));
	if (times->since_tsc && times->since_tsc < bounds->tsc)
		add_time(&cpu->counts, state, to_ns(bounds->tsc - times->since_tsc, bounds));
}

static void read_counts(const struct lwk_cpu_status *status, struct ms_counts *counts)
{
	for (size_t i = 0; i < MS_INTERRUPTS; i++)
		counts->interrupts[i] = status->interrupts[i];
	for (size_t i = 0; i < MS_CALL_KINDS; i++)
		counts->delegated_calls[i] = status->delegated_calls[i];
	counts->disturbances = status->disturbances;
	counts->local_calls = status->local_calls;
	counts->faults = status->faults;
	counts->processes = status->processes;
	counts->out_of_memory = status->out_of_memory;
}

_Static_assert((int)MS_INTERRUPTS == (int)LWK_INTERRUPTS, "the same kinds, in the same order");
_Static_assert((int)MS_CALL_KINDS == (int)LWK_CALL_KINDS, "the same kinds, in the same order");

static void add_counts(struct ms_counts *total, const struct ms_counts *one)
{
	uint64_t *to = (uint64_t *)total;
	const uint64_t *from = (const uint64_t *)one;

	_Static_assert(sizeof(*total) % sizeof(*to) == 0, "nothing but counts of 64 bits");
	for (size_t i = 0; i < sizeof(*total) / sizeof(*to); i++)
		to[i] = add(to[i], from[i]);
}

static void read_memory(const struct lwk_cpu_memory *memory, const struct usage_bounds *bounds,
			struct ms_usage *usage)
{
	for (size_t n = 0; n < LWK_STATUS_NODES; n++) {
		const struct lwk_node_pages *from = &memory->node[n];
		struct ms_node_usage *to = &usage->nodes[n];
		uint64_t small = pages_to_bytes(from->pages_4k, PAGE_4K, bounds);
		uint64_t large = pages_to_bytes(from->pages_2m, PAGE_2M, bounds);
		uint64_t peak = at_most(from->peak_bytes, bounds->memory);

		to->bytes_4k = at_most(add(to->bytes_4k, small), bounds->memory);
		to->bytes_2m = at_most(add(to->bytes_2m, large), bounds->memory);
		to->peak = at_least(to->peak, peak);
		to->peak_4k = at_least(to->peak_4k, pages_to_bytes(from->peak_4k, PAGE_4K, bounds));
		to->peak_2m = at_least(to->peak_2m, pages_to_bytes(from->peak_2m, PAGE_2M, bounds));
	}
	usage->kernel_used = add(usage->kernel_used, at_most(memory->kernel_bytes, bounds->memory));
	if (memory->kernel_peak_bytes > usage->kernel_peak)
		usage->kernel_peak = memory->kernel_peak_bytes;
	if (memory->user_peak_bytes > usage->memory_peak)
		usage->memory_peak = memory->user_peak_bytes;
}

static void read_cpu(const struct lwk_cpu_status *status, const struct usage_bounds *bounds,
		     struct ms_usage *usage, struct ms_cpu_usage *cpu)
{
	cpu->cpu = status->linux_cpu;
	cpu->node = status->linux_node;
	cpu->torn = (status->times.seq | status->memory.seq) & 1;
	if (!(status->times.seq & 1))
		read_times(&status->times, bounds, cpu);
	if (!(status->memory.seq & 1))
		read_memory(&status->memory, bounds, usage);
	read_counts(status, &cpu->counts);
	add_counts(&usage->total, &cpu->counts);
	usage->threads += cpu->has_process;
}

/* Removes the nodes that never had any memory, and sums up the others. */
static void finish_memory(struct ms_usage *usage, const struct usage_bounds *bounds)
{
	size_t kept = 0;

	for (unsigned n = 0; n < LWK_STATUS_NODES; n++) {
		struct ms_node_usage *node = &usage->nodes[n];

		node->node = n;
		usage->memory_used = add(usage->memory_used, node->bytes_4k + node->bytes_2m);
		if (node->bytes_4k || node->bytes_2m || node->peak)
			usage->nodes[kept++] = *node;
	}
	usage->n_nodes = kept;
	usage->memory_used = at_most(usage->memory_used, usage->memory);
	usage->memory_peak = at_most(usage->memory_peak, usage->memory);
	usage->kernel_used = at_most(usage->kernel_used, usage->kernel_memory);
	usage->kernel_peak = at_most(usage->kernel_peak, usage->kernel_memory);
	if (usage->kernel_peak < usage->kernel_used)
		usage->kernel_peak = usage->kernel_used;
}

static bool is_status(const struct lwk_status *status, const struct usage_bounds *bounds)
{
	return bounds->n_cpus <= LWK_MAX_CPUS &&
	       bounds->bytes >= LWK_STATUS_BYTES(bounds->n_cpus) && bounds->tsc_khz &&
	       status->magic == LWK_SHARED_MAGIC;
}

int usage_from_status(const struct lwk_status *status, const struct usage_bounds *bounds,
		      struct ms_usage *usage)
{
	memset(usage, 0, sizeof(*usage));
	if (!is_status(status, bounds))
		return -ENODATA;
	usage->cpus = calloc(bounds->n_cpus + 1, sizeof(*usage->cpus));
	usage->nodes = calloc(LWK_STATUS_NODES, sizeof(*usage->nodes));
	if (!usage->cpus || !usage->nodes) {
		ms_usage_release(usage);
		return -ENOMEM;
	}
	usage->n_cpus = bounds->n_cpus;
	usage->memory = at_most(status->user_bytes, bounds->memory);
	usage->kernel_memory = at_most(status->kernel_bytes, bounds->memory);
	usage->kernel_used = status->kernel_used;
	/* CPUID has 5 bits for the number of fixed counters and 8 bits for each of the others. */
	if (status->pmu_version)
		usage->pmu = (struct ms_pmu){ .version = at_most(status->pmu_version, 255),
					      .counters = at_most(status->pmu_counters, 255),
					      .fixed = at_most(status->pmu_fixed, 31),
					      .bits = at_most(status->pmu_bits, 255),
					      .missing = status->pmu_missing };
	for (unsigned i = 0; i < bounds->n_cpus; i++)
		read_cpu(&status->cpu[i], bounds, usage, &usage->cpus[i]);
	finish_memory(usage, bounds);
	return 0;
}

int counters_from_status(const struct lwk_counters *set, const struct lwk_status *status,
			 const struct usage_bounds *bounds, struct ms_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	if (!is_status(status, bounds))
		return -ENODATA;
	counters->cpus = calloc(bounds->n_cpus + 1, sizeof(*counters->cpus));
	if (!counters->cpus)
		return -ENOMEM;
	counters->running = set->running;
	counters->n = at_most(set->count, MS_MAX_COUNTERS);
	counters->n_cpus = bounds->n_cpus;
	for (size_t i = 0; i < counters->n; i++)
		counters_name(&set->counters[i], counters->names[i]);
	for (unsigned i = 0; i < bounds->n_cpus; i++) {
		const struct lwk_cpu_counters *from = &status->cpu[i].counters;
		struct ms_cpu_counters *to = &counters->cpus[i];

		to->cpu = status->cpu[i].linux_cpu;
		to->torn = from->seq & 1 || from->order != set->order;
		if (!to->torn)
			memcpy(to->values, from->values, counters->n * sizeof(*to->values));
	}
	return 0;
}
