// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl reset: takes back what jobs' LWKs have. */
#include <stdio.h>

#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"

static int run(const struct options *options)
{
	uint32_t job_id = MS_ALL_JOBS;
	struct ms_error err;
	bool said = false;

	if (options->n_arguments && !parse_id(options->arguments[0], &job_id))
		return usage_error("a job, a number", options->arguments[0]);
	if (ms_reset(job_id, print_line, &said, &err) < 0)
		return fail(&err);
	if (!said)
		puts("nothing was lent");
	return EXIT_OK;
}

const struct verb verb_reset = {
	.name = "reset",
	.summary = "Take back what a job's LWK has, or all that is lent (root)",
	.help = "Gives Linux back what the LWK of JOB has, at once, whether the LWK runs or not. Without JOB "
		"it does so for all jobs, and for whatever else is lent. Root only.",
	.arguments = "[JOB]",
	.most_arguments = 1,
	.for_root = true,
	.run = run,
};
