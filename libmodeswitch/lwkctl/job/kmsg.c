// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl kmsg: the console text of an LWK. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

#define FOLLOW_MS 250

enum { OPTION_FOLLOW = OPTION_OWN };

static bool follow_console;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_FOLLOW)
		return ARGP_ERR_UNKNOWN;
	follow_console = true;
	return 0;
}

/* Prints the text of an instance by its number; only root may. */
static int print_instance_console(uint32_t instance)
{
	struct ms_error err;
	char *text;

	if (ms_kmsg(instance, &text, &err) < 0)
		return fail(&err);
	fputs(text, stdout);
	free(text);
	return EXIT_OK;
}

static int print_console(struct ms_watch *watch, bool follow, struct ms_error *err)
{
	struct ms_instance_info info;
	uint64_t position = 0;
	char text[4096];
	ssize_t got;

	for (;;) {
		/*
		 * The state is read before the text, so that the LWK's last text is printed as
		 * well.
		 */
		if (ms_watch_info(watch, &info, err) < 0)
			return -1;
		while ((got = ms_watch_console(watch, &position, text, sizeof(text), err)) > 0)
			fwrite(text, 1, got, stdout);
		fflush(stdout);
		if (got < 0 || !follow || ferror(stdout) || info.state == MS_INSTANCE_SHUTTING_DOWN)
			return got;
		poll(NULL, 0, FOLLOW_MS);
	}
}

static int run(const struct options *options)
{
	struct ms_watch *watch;
	struct ms_error err;
	struct ms_job job;
	uint32_t id;
	int got;

	if (!job_argument(options, &id))
		return EXIT_USAGE;
	got = ms_job_get(id, &job, &err);
	if (got < 0)
		return fail(&err);
	if (got == 0 && geteuid() == 0 && !follow_console)
		return print_instance_console(id);
	if (got == 1)
		ms_job_release(&job);
	if (ms_watch_open(id, &watch, &err) < 0)
		return fail(&err);
	got = print_console(watch, follow_console, &err);
	ms_watch_close(watch);
	return got < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_kmsg = {
	.name = "kmsg",
	.summary = "Print the console text of a job's LWK",
	.help = "Prints the console text of the LWK of JOB. Root can also give the number of an instance.",
	.arguments = "JOB|INSTANCE",
	.most_arguments = 1,
	.options =
		(const struct argp_option[]){
			FLAG("follow", OPTION_FOLLOW, "Go on until the job ends"), { 0 } },
	.parse = parse,
	.run = run,
};
