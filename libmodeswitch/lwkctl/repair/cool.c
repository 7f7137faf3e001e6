// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl cool: takes back the partition that is kept warm for another LWK job. */
#include <stdio.h>

#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"

enum { OPTION_WAIT = OPTION_OWN };

static bool wait_for_end;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_WAIT)
		return ARGP_ERR_UNKNOWN;
	wait_for_end = true;
	return 0;
}

static int run(const struct options *options)
{
	struct ms_error err;
	bool said = false;
	int ret;

	if (wait_for_end)
		ret = ms_cool_when_over(print_line, &said, &err);
	else
		ret = ms_cool(false, print_line, &said, &err);
	if (ret < 0)
		return fail(&err);
	if (!said)
		puts(ret ? "another process waits for the end already" : "nothing was warm");
	return EXIT_OK;
}

const struct verb verb_cool = {
	.name = "cool",
	.summary = "Take back what is kept warm for another LWK job (root)",
	.help = "Gives Linux back, at once, the CPUs and the memory that are kept warm for another LWK job "
		"(KeepWarm= in lwk.conf(5)). Root only.",
	.for_root = true,
	.options =
		(const struct argp_option[]){
			FLAG("wait", OPTION_WAIT,
			     "Wait until their time is over, and leave them to a job that has taken "
			     "them"),
			{ 0 } },
	.parse = parse,
	.run = run,
};
