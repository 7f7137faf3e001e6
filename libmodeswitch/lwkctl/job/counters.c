// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl counters: sets, starts, stops, reads and removes counters on the CPUs of a job's LWK. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lwkctl/common.h"

#include "modeswitch/counters.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

static void print_values(const char *cpu, const struct ms_counters *counters,
			 const uint64_t *values, bool torn)
{
	printf("%-5s", cpu);
	for (size_t i = 0; i < counters->n; i++) {
		int width = strlen(counters->names[i]) < 15 ? 15 : strlen(counters->names[i]);

		if (torn)
			printf("  %*s", width, "-");
		else
			printf("  %*" PRIu64, width, values[i]);
	}
	putchar('\n');
}

static void print_counters(const struct ms_counters *counters)
{
	uint64_t totals[MS_MAX_COUNTERS] = { 0 };

	if (!counters->n) {
		puts("no counters");
		return;
	}
	puts(counters->running ? "counting" : "stopped");
	printf("%-5s", "CPU");
	for (size_t i = 0; i < counters->n; i++)
		printf("  %15s", counters->names[i]);
	putchar('\n');
	for (size_t c = 0; c < counters->n_cpus; c++) {
		const struct ms_cpu_counters *cpu = &counters->cpus[c];
		char number[16];

		snprintf(number, sizeof(number), "%u", cpu->cpu);
		print_values(number, counters, cpu->values, cpu->torn);
		for (size_t i = 0; i < counters->n; i++)
			totals[i] += cpu->values[i];
	}
	print_values("all", counters, totals, false);
}

static int read_counters(struct ms_watch *watch, bool json, struct ms_error *err)
{
	struct ms_counters counters;

	if (ms_counters_read(watch, &counters, err) < 0)
		return -1;
	if (json)
		print_json(ms_counters_to_json(&counters));
	else
		print_counters(&counters);
	ms_counters_release(&counters);
	return 0;
}

static int set_counters(struct ms_watch *watch, const struct options *options, struct ms_error *err)
{
	return ms_counters_set(watch, (const char *const *)options->arguments + 2,
			       options->n_arguments - 2, err);
}

static int run(const struct options *options)
{
	const char *what = options->n_arguments > 1 ? options->arguments[1] : "read";
	bool set = strcmp(what, "set") == 0, read = strcmp(what, "read") == 0;
	bool start = strcmp(what, "start") == 0, stop = strcmp(what, "stop") == 0;
	struct ms_watch *watch;
	struct ms_error err;
	uint32_t job_id;
	int ret;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (!set && !read && !start && !stop && strcmp(what, "remove") != 0)
		return usage_error("set, start, stop, read or remove", what);
	if (set && options->n_arguments == 2)
		return usage_error("one or more events", "nothing");
	if (!set && options->n_arguments > 2)
		return usage_error("nothing more", options->arguments[2]);
	if (ms_watch_open(job_id, &watch, &err) < 0)
		return fail(&err);
	ret = set     ? set_counters(watch, options, &err)
	      : start ? ms_counters_start(watch, &err)
	      : stop  ? ms_counters_stop(watch, &err)
	      : read  ? read_counters(watch, options->json, &err)
		      : ms_counters_remove(watch, &err);
	ms_watch_close(watch);
	return ret < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_counters = {
	.name = "counters",
	.summary = "Count events on each CPU of a job's LWK",
	.help = "Counts events on each CPU of the LWK of JOB: cycles, instructions and other hardware "
		"counters where the CPUs have them; page-faults, interrupts, delegated-calls and others "
		"everywhere. lwkctl(8) has their names.",
	.arguments = "JOB [read]\nJOB set EVENT...\nJOB start|stop|remove",
	.most_arguments = INT_MAX,
	.options = (const struct argp_option[]){ JSON_OPTION, { 0 } },
	.run = run,
};
