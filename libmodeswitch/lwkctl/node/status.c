// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl status: the jobs that this node knows, and what it has lent. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"

static struct json_object *lent_to_json(const struct ms_lent *lent)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "kind", lent->is_cpu ? "cpu" : lent->is_blocks ? "blocks" : "run");
	json_add_number(object, "instance", lent->instance);
	json_add_number(object, "node", lent->node);
	if (lent->is_cpu) {
		json_add_number(object, "cpu", lent->cpu);
	} else {
		/* A driver that knows no addresses uses larger numbers as names of memory. */
		json_object_object_add(
			object, "start",
			lent->start > INT64_MAX ? NULL : json_object_new_int64(lent->start));
		json_add_number(object, "bytes", lent->bytes);
	}
	return object;
}

static void print_warm(const struct ms_job *job)
{
	int64_t left = (int64_t)job->keep_warm - ms_job_age(job);
	char cpus[256];

	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job->lwk_cpus);
	printf("  CPUs %s and %ju MB of memory are kept for another LWK job, for %jd s\n", cpus,
	       MB(job->memory), (intmax_t)(left > 0 ? left : 0));
}

static void print_job(const struct ms_job *job)
{
	char cpus[256], linux_cpus[256], nodes[128], since[32], parts[512];
	time_t when = job->since;
	struct tm tm;

	if (job->state == MS_JOB_UNREADABLE) {
		printf("job %u: unreadable\n  %s\n", job->job_id, job->reason);
		return;
	}
	strftime(since, sizeof(since), "%F %T", localtime_r(&when, &tm));
	printf("job %u of user %u: %s since %s\n", job->job_id, job->uid,
	       ms_job_state_word(job->state), since);
	if (job->state == MS_JOB_ACTIVE) {
		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job->lwk_cpus);
		hwloc_bitmap_list_snprintf(linux_cpus, sizeof(linux_cpus), job->linux_cpus);
		hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), job->nodes);
		ms_times_print(&job->times, parts, sizeof(parts));
		printf("  image %s (%s) as %s, switched in %u ms (%s)\n"
		       "  CPUs %s, with Linux %s\n"
		       "  memory %ju MB on NUMA nodes %s, %u run%s, the largest %ju MB\n",
		       job->image, job->driver, job->device, job->switch_on_ms, parts, cpus,
		       *linux_cpus ? linux_cpus : "none", MB(job->memory), nodes, job->runs,
		       job->runs == 1 ? "" : "s", MB(job->largest_run));
	}
	if (job->vacated)
		printf("  moved away for it: %ju MB of other programs' memory\n", MB(job->vacated));
	if (job->state == MS_JOB_WARM)
		print_warm(job);
	if (job->state == MS_JOB_QUIET && !*job->reason) {
		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job->linux_cpus);
		printf("  device interrupts are kept away from CPUs %s\n", cpus);
	}
	if (*job->reason)
		printf("  %s\n", job->reason);
}

static void print_lent(const struct ms_lent *lent, size_t n)
{
	size_t cpus = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		cpus += lent[i].is_cpu;
		bytes += lent[i].bytes;
	}
	printf("lent in all: %zu CPUs, %ju MB of memory in %zu ranges\n", cpus, MB(bytes),
	       n - cpus);
}

static int run(const struct options *options)
{
	struct ms_lent *lent = NULL;
	struct ms_error err;
	struct ms_job *jobs;
	size_t n, n_lent = 0;

	if (ms_job_list(&jobs, &n, &err) < 0)
		return fail(&err);
	if (geteuid() == 0 && ms_ledger(&lent, &n_lent, &err) < 0) {
		ms_job_list_free(jobs, n);
		return fail(&err);
	}
	if (options->json) {
		struct json_object *object = json_object_new_object();
		struct json_object *job_array = json_object_new_array();
		struct json_object *lent_array = json_object_new_array();

		for (size_t i = 0; i < n; i++)
			json_object_array_add(job_array, ms_job_to_json(&jobs[i]));
		for (size_t i = 0; i < n_lent; i++)
			json_object_array_add(lent_array, lent_to_json(&lent[i]));
		json_object_object_add(object, "jobs", job_array);
		if (geteuid() == 0)
			json_object_object_add(object, "lent", lent_array);
		else
			json_object_put(lent_array);
		print_json(object);
	} else {
		for (size_t i = 0; i < n; i++)
			print_job(&jobs[i]);
		if (!n)
			puts("no LWK job is known on this node");
		if (geteuid() == 0)
			print_lent(lent, n_lent);
	}
	free(lent);
	ms_job_list_free(jobs, n);
	return EXIT_OK;
}

const struct verb verb_status = {
	.name = "status",
	.summary = "Show the LWK jobs of this node and their states",
	.help = "Shows which jobs of this node have, wanted or lost an LWK. Root also sees what is lent.",
	.options = (const struct argp_option[]){ JSON_OPTION, { 0 } },
	.run = run,
};
