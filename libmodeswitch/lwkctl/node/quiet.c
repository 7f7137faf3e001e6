// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl quiet: the process that keeps device interrupts away from jobs with --quiet-irqs. */
#include "lwkctl/common.h"
#include "lwkctl/confine.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"

/* irqbalance is told by a socket. Root needs no capability for files of its own. */
#define CAPABILITIES 0
#define CALLS "getsockopt recvfrom sendmsg setsockopt"

static int run(const struct options *options)
{
	double interval = MS_QUIET_INTERVAL;
	struct ms_error err;

	if (!interval_argument(options, &interval))
		return EXIT_USAGE;
	if (confine(CAPABILITIES, CALLS, &err) < 0)
		return fail(&err);
	return ms_quiet_watch(interval, &err) < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_quiet = {
	.name = "quiet",
	.summary = "Keep device interrupts away from --quiet-irqs jobs (root)",
	.help = "Keeps device interrupts away from the CPUs of jobs with --quiet-irqs, until there are no "
		"such jobs. They start this command themselves. Root only.",
	.for_root = true,
	.options =
		(const struct argp_option[]){
			INTERVAL_OPTION("Look every SECONDS (0.001 to 86400; 10 by default)"),
			{ 0 } },
	.run = run,
};
