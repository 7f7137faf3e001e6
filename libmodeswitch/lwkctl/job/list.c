// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl list: a line for each LWK instance that the caller may see. */
#include <stdio.h>
#include <unistd.h>

#include "lwkctl/common.h"
#include "lwkctl/job/instance.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

static void print_row(const struct instance *instance)
{
	char user[64], since[32];

	format_user(instance->job->uid, user, sizeof(user));
	format_time(instance->info.since_ns, since, sizeof(since));
	printf("%-10u %-12s %-12s %-14s %-19s %5u %5u %9ju\n", instance->job->job_id, user,
	       instance->job->image, ms_instance_state_word(instance->info.state), since,
	       instance->info.cpus, instance->info.processes, MB(instance->info.memory));
}

static int run(const struct options *options)
{
	struct json_object *array = json_object_new_array();
	struct ms_error err;
	struct ms_job *jobs;
	size_t n;

	if (ms_job_list(&jobs, &n, &err) < 0) {
		json_object_put(array);
		return fail(&err);
	}
	if (!options->json)
		printf("%-10s %-12s %-12s %-14s %-19s %5s %5s %9s\n", "JOB", "USER", "IMAGE",
		       "STATE", "SINCE", "CPUS", "PROCS", "MEMORY_MB");
	for (size_t i = 0; i < n; i++) {
		struct instance instance = { .job = &jobs[i] };

		if ((geteuid() != 0 && jobs[i].uid != geteuid()) ||
		    jobs[i].state != MS_JOB_ACTIVE ||
		    !instance_read(jobs[i].job_id, &instance, &err))
			continue;
		if (options->json)
			json_object_array_add(array, instance_to_json(&instance));
		else
			print_row(&instance);
	}
	ms_job_list_free(jobs, n);
	if (options->json)
		return print_json(array);
	json_object_put(array);
	return EXIT_OK;
}

const struct verb verb_list = {
	.name = "list",
	.summary = "List the LWK instances of your jobs",
	.help = "Lists the LWK instances of your jobs on this node; root sees all.",
	.options = (const struct argp_option[]){ JSON_OPTION, { 0 } },
	.run = run,
};
