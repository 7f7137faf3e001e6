// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl metrics: prints the statistics of this node's LWKs in Prometheus' text exposition format
 * (0.0.4), for the textfile collector of a node exporter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lwkctl/common.h"

#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/watch.h"

struct instance {
	struct ms_job *job;
	struct ms_instance_info info;
	struct ms_usage usage;
	bool has_usage;
};

/* Prints the samples of one metric for one instance. */
typedef void (*printer)(const struct instance *instance, const char *name);

static void labels(const struct instance *instance, const char *name)
{
	/* The name of an image has no character that would need an escape (lwk.conf(5)). */
	printf("%s{job=\"%u\",uid=\"%u\",image=\"%s\"", name, instance->job->job_id,
	       instance->job->uid, instance->job->image);
}

static void print_state(const struct instance *instance, const char *name)
{
	for (int state = 0; state < MS_INSTANCE_STATES; state++) {
		labels(instance, name);
		printf(",state=\"%s\"} %d\n", ms_instance_state_word(state),
		       instance->info.state == (enum ms_instance_state)state);
	}
}

static void print_processes(const struct instance *instance, const char *name)
{
	if (instance->info.processes == MS_UNKNOWN)
		return;
	labels(instance, name);
	printf("} %u\n", instance->info.processes);
}

static void print_cpu_time(const struct instance *instance, const char *name, size_t i)
{
	const struct ms_cpu_usage *cpu = &instance->usage.cpus[i];
	const struct {
		const char *mode;
		uint64_t ns;
	} modes[] = {
		{ "user", cpu->counts.user_ns },
		{ "system", cpu->counts.system_ns },
		{ "delegating", cpu->counts.delegating_ns },
		{ "idle", cpu->counts.idle_ns },
	};

	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++) {
		labels(instance, name);
		printf(",cpu=\"%u\",mode=\"%s\"} %.9f\n", cpu->cpu, modes[m].mode,
		       modes[m].ns / 1e9);
	}
}

static void print_cpu_times(const struct instance *instance, const char *name)
{
	for (size_t i = 0; i < instance->usage.n_cpus; i++) {
		/* Times that could not be read are 0, and a counter of Prometheus must not fall. */
		if (!instance->usage.cpus[i].torn)
			print_cpu_time(instance, name, i);
	}
}

static void print_memory(const struct instance *instance, const char *name)
{
	const struct ms_usage *usage = &instance->usage;
	const struct {
		const char *what;
		uint64_t bytes;
	} parts[] = {
		{ "programs", usage->memory },		 { "programs_used", usage->memory_used },
		{ "programs_peak", usage->memory_peak }, { "kernel", usage->kernel_memory },
		{ "kernel_used", usage->kernel_used },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		labels(instance, name);
		printf(",of=\"%s\"} %" PRIu64 "\n", parts[i].what, parts[i].bytes);
	}
}

static void print_calls(const struct instance *instance, const char *name)
{
	const struct ms_counts *total = &instance->usage.total;

	for (int kind = 0; kind < MS_CALL_KINDS; kind++) {
		labels(instance, name);
		printf(",kind=\"%s\"} %" PRIu64 "\n", ms_call_kind_word(kind),
		       total->delegated_calls[kind]);
	}
	labels(instance, name);
	printf(",kind=\"local\"} %" PRIu64 "\n", total->local_calls);
}

static void print_interrupts(const struct instance *instance, const char *name)
{
	const struct ms_counts *total = &instance->usage.total;

	for (int kind = 0; kind < MS_INTERRUPTS; kind++) {
		labels(instance, name);
		printf(",kind=\"%s\"} %" PRIu64 "\n", ms_interrupt_word(kind),
		       total->interrupts[kind]);
	}
}

static void print_out_of_memory(const struct instance *instance, const char *name)
{
	labels(instance, name);
	printf("} %" PRIu64 "\n", instance->usage.total.out_of_memory);
}

static const struct {
	const char *name, *type, *help;
	printer print;
	bool of_usage;
} metrics[] = {
	{ "lwk_state", "gauge", "1 for the state that the LWK is in", print_state, false },
	{ "lwk_processes", "gauge", "Processes that exist", print_processes, false },
	{ "lwk_cpu_seconds_total", "counter", "Time of an LWK CPU by what it did", print_cpu_times,
	  true },
	{ "lwk_memory_bytes", "gauge", "Memory of the partition", print_memory, true },
	{ "lwk_calls_total", "counter", "System calls, delegated by kind, and local", print_calls,
	  true },
	{ "lwk_interrupts_total", "counter", "Interrupts of LWK CPUs", print_interrupts, true },
	{ "lwk_out_of_memory_total", "counter", "Processes killed for want of memory",
	  print_out_of_memory, true },
};

/* Prints what the node has lent, including what it keeps warm. */
static int print_lent(struct ms_error *err)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	struct ms_lent *lent;
	unsigned node, cpus = 0;
	size_t n;

	if (ms_ledger(&lent, &n, err) < 0) {
		hwloc_bitmap_free(nodes);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		cpus += lent[i].is_cpu;
		if (!lent[i].is_cpu)
			hwloc_bitmap_set(nodes, lent[i].node);
	}
	printf("# HELP lwk_lent_cpus CPUs lent to LWKs.\n# TYPE lwk_lent_cpus gauge\n"
	       "lwk_lent_cpus %u\n"
	       "# HELP lwk_lent_memory_bytes Memory lent to LWKs, by NUMA node.\n"
	       "# TYPE lwk_lent_memory_bytes gauge\n",
	       cpus);
	hwloc_bitmap_foreach_begin(node, nodes) {
		uint64_t bytes = 0;

		for (size_t i = 0; i < n; i++)
			bytes += !lent[i].is_cpu && lent[i].node == node ? lent[i].bytes : 0;
		printf("lwk_lent_memory_bytes{node=\"%u\"} %" PRIu64 "\n", node, bytes);
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(nodes);
	free(lent);
	return 0;
}

static size_t read_instances(struct ms_job *jobs, size_t n, struct instance *instances)
{
	struct ms_error ignored; /* a job that ends now is left out */
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		struct instance *instance = &instances[found];
		struct ms_watch *watch;

		if (jobs[i].state != MS_JOB_ACTIVE ||
		    ms_watch_open(jobs[i].job_id, &watch, &ignored) < 0)
			continue;
		instance->job = &jobs[i];
		instance->has_usage = ms_watch_usage(watch, &instance->usage, &ignored) == 1;
		found += ms_watch_info(watch, &instance->info, &ignored) == 0;
		ms_watch_close(watch);
	}
	return found;
}

static int run(const struct options *options)
{
	struct instance *instances;
	struct ms_error err;
	struct ms_job *jobs;
	size_t n, found;

	if (print_lent(&err) < 0)
		return fail(&err);
	if (ms_job_list(&jobs, &n, &err) < 0)
		return fail(&err);
	instances = calloc(n + 1, sizeof(*instances));
	found = instances ? read_instances(jobs, n, instances) : 0;
	for (size_t m = 0; m < sizeof(metrics) / sizeof(*metrics); m++) {
		printf("# HELP %s %s.\n# TYPE %s %s\n", metrics[m].name, metrics[m].help,
		       metrics[m].name, metrics[m].type);
		for (size_t i = 0; i < found; i++) {
			if (!metrics[m].of_usage || instances[i].has_usage)
				metrics[m].print(&instances[i], metrics[m].name);
		}
	}
	for (size_t i = 0; i < found; i++)
		ms_usage_release(&instances[i].usage);
	free(instances);
	ms_job_list_free(jobs, n);
	return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_OK : EXIT_FAILED;
}

const struct verb verb_metrics = {
	.name = "metrics",
	.summary = "Print the statistics of all LWKs for Prometheus (root)",
	.help = "Prints the statistics of all LWKs of this node in Prometheus' text format. Root only.",
	.for_root = true,
	.run = run,
};
