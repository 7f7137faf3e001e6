// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl freeze and thaw: stop the programs of a job's LWK and let them go on. */
#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

#define FREEZE_MS 10000

static int set_frozen(const struct options *options, bool frozen)
{
	struct ms_watch *watch;
	struct ms_error err;
	uint32_t job_id;
	int ret;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (ms_watch_open(job_id, &watch, &err) < 0)
		return fail(&err);
	ret = ms_watch_freeze(watch, frozen, FREEZE_MS, &err);
	ms_watch_close(watch);
	return ret < 0 ? fail(&err) : EXIT_OK;
}

static int freeze(const struct options *options)
{
	return set_frozen(options, true);
}

static int thaw(const struct options *options)
{
	return set_frozen(options, false);
}

const struct verb verb_freeze = {
	.name = "freeze",
	.summary = "Stop the programs of a job's LWK",
	.help = "Stops the programs of the LWK of JOB and halts its CPUs, until 'lwkctl thaw JOB'.",
	.arguments = "JOB",
	.most_arguments = 1,
	.run = freeze,
};

const struct verb verb_thaw = {
	.name = "thaw",
	.summary = "Let the programs of a frozen LWK go on",
	.help = "Lets the programs of the LWK of JOB go on after 'lwkctl freeze JOB'.",
	.arguments = "JOB",
	.most_arguments = 1,
	.run = thaw,
};
