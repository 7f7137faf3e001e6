// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl guard: ends the programs of an LWK that fails. A switch starts it where it is needed. */
#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

static int run(const struct options *options)
{
	struct ms_error err;
	uint32_t job_id;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	return ms_guard(job_id, &err) < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_guard = {
	.name = "guard",
	.summary = "End the programs of a job's LWK when it fails (root)",
	.help = "Waits until the LWK of JOB fails, and ends its programs then, or until the job ends. The switch "
		"of a job with McKernel starts this; other LWKs need no guard. Root only.",
	.arguments = "JOB",
	.most_arguments = 1,
	.for_root = true,
	.run = run,
};
