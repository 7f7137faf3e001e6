// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl reset: takes back what jobs' LWKs have. */
#include <stdio.h>

#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"

enum { OPTION_DRY_RUN = OPTION_OWN, OPTION_FORCE };

static bool dry_run, force;

static error_t parse(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPTION_DRY_RUN:
		dry_run = true;
		return 0;
	case OPTION_FORCE:
		force = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int run(const struct options *options)
{
	enum ms_reset_mode mode = dry_run ? MS_RESET_DRY_RUN : force ? MS_RESET_FORCE : MS_RESET;
	uint32_t job_id = MS_ALL_JOBS;
	struct ms_error err;
	bool said = false;

	if (options->n_arguments && !parse_id(options->arguments[0], &job_id))
		return usage_error("a job, a number", options->arguments[0]);
	if (dry_run && force)
		return usage_error("--dry-run or --force", "both");
	if (ms_reset(job_id, mode, print_line, &said, &err) < 0)
		return fail(&err);
	if (!said)
		puts("nothing was lent");
	else if (dry_run)
		puts("nothing is changed (--dry-run)");
	return EXIT_OK;
}

const struct verb verb_reset = {
	.name = "reset",
	.summary = "Take back what a job's LWK has, or all that is lent (root)",
	.help = "Gives Linux back what the LWK of JOB has, at once, whether the LWK runs or not. Without JOB "
		"it does so for all jobs, and for whatever else is lent. Root only.",
	.options =
		(const struct argp_option[]){
			FLAG("dry-run", OPTION_DRY_RUN, "Change nothing; show what is found"),
			FLAG("force", OPTION_FORCE,
			     "Kill a switch that hangs, and forget journals that cannot be undone"),
			{ 0 } },
	.parse = parse,
	.arguments = "[JOB]",
	.most_arguments = 1,
	.for_root = true,
	.run = run,
};
