// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl quiet: the process that sees to the quiet of jobs with --quiet-irqs.
 */
#include "lwkctl/common.h"

#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"

int run_quiet(const struct options *options)
{
	double interval = MS_QUIET_INTERVAL;
	struct ms_error err;

	if (!interval_argument(options, &interval))
		return EXIT_USAGE;
	return ms_quiet_watch(interval, &err) < 0 ? fail(&err) : EXIT_OK;
}
