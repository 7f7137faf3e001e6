// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what would break LWK jobs on this node before a job meets it.
 */
#include "node/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/driver.h"
#include "modeswitch/config.h"
#include "modeswitch/node.h"
#include "node/check/slurm/scontrol.h"

void check_tell(struct checking *checking, int level, const char *subject, const char *to_do,
		const char *format, ...)
{
	char text[1500];
	struct ms_finding finding = {
		.level = level, .subject = subject, .text = text, .to_do = to_do
	};
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	checking->problems += level == MS_PROBLEM;
	checking->hear(&finding, checking->context);
}

int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context)
{
	struct checking checking = { .hear = hear, .context = context };

	check_ask_slurm(&checking);
	check_config(&checking, config_path);
	check_images(&checking);
	for (size_t i = 0; driver_number(i); i++)
		check_module(&checking, driver_number(i));
	check_plugstack(&checking);
	check_settings(&checking);
	check_slurm_node(&checking);
	check_memory(&checking);
	check_numa(&checking);
	check_limits(&checking);
	check_interrupts(&checking);
	check_tricks(&checking);
	check_vulnerabilities(&checking);
	check_jobs(&checking);
	check_journals(&checking);
	ms_config_free(checking.config);
	free(checking.slurm);
	free(checking.node);
	free(checking.partitions);
	return checking.problems;
}
