// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl info: what one job's LWK has, and its state. */
#include <stdio.h>

#include "lwkctl/common.h"
#include "lwkctl/job/instance.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

static void print_pmu(const struct ms_pmu *pmu)
{
	if (pmu->version)
		printf("counters   %u of %u bits and %u fixed ones for each CPU (version %u%s)\n",
		       pmu->counters, pmu->bits, pmu->fixed, pmu->version,
		       pmu->version < 2 ? "; not available here: 2 is needed" : "");
	else
		puts("counters   not available here: the CPUs tell of no architectural performance "
		     "counters (CPUID leaf 0xa)");
}

static void print_info(const struct instance *instance)
{
	char user[64], since[32], cpus[256], nodes[128];

	format_user(instance->job->uid, user, sizeof(user));
	if (instance->info.since_ns)
		format_time(instance->info.since_ns, since, sizeof(since));
	else
		snprintf(since, sizeof(since), "an unknown time");
	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), instance->job->lwk_cpus);
	hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), instance->job->nodes);
	printf("job        %u of %s\nimage      %s (%s) as %s\nstate      %s since %s\n",
	       instance->job->job_id, user, instance->job->image, instance->job->driver,
	       instance->job->device, ms_instance_state_word(instance->info.state), since);
	if (*instance->info.message)
		printf("reason     %s\n", instance->info.message);
	printf("CPUs       %s (%u)\nmemory     %ju MB on NUMA nodes %s, %u run%s, the largest "
	       "%ju MB\n",
	       cpus, instance->info.cpus, MB(instance->info.memory), nodes, instance->job->runs,
	       instance->job->runs == 1 ? "" : "s", MB(instance->job->largest_run));
	if (instance->info.processes == MS_UNKNOWN)
		puts("processes  unknown");
	else
		printf("processes  %u\n", instance->info.processes);
	print_pmu(&instance->pmu);
}

static int run(const struct options *options)
{
	struct ms_job job;
	struct instance instance = { .job = &job };
	struct ms_error err;
	uint32_t job_id;
	int got, status = EXIT_OK;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (!instance_read(job_id, &instance, &err))
		return fail(&err);
	got = ms_job_get(job_id, &job, &err);
	if (got == 0)
		got = ms_fail(&err, "job %u has just ended", job_id);
	if (got < 0)
		return fail(&err);
	if (options->json)
		status = print_json(instance_to_json(&instance));
	else
		print_info(&instance);
	ms_job_release(&job);
	return status;
}

const struct verb verb_info = {
	.name = "info",
	.summary = "Show what a job's LWK has, and its state",
	.help = "Shows what the LWK of JOB has, its state, and since when it has been in that state.",
	.arguments = "JOB",
	.most_arguments = 1,
	.options = (const struct argp_option[]){ JSON_OPTION, { 0 } },
	.run = run,
};
