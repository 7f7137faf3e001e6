// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what would break LWK jobs on this node before a job meets it.
 */
#include "node/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "modeswitch/config.h"
#include "modeswitch/node.h"
#include "node/check/scontrol.h"

static void tell(struct checking *checking, struct ms_finding *finding, const char *format,
		 va_list args)
{
	char text[1500];

	vsnprintf(text, sizeof(text), format, args);
	finding->text = text;
	checking->problems += finding->level == MS_PROBLEM;
	checking->hear(finding, checking->context);
}

void check_tell(struct checking *checking, int level, const char *subject, const char *to_do,
		const char *format, ...)
{
	struct ms_finding finding = { .level = level, .subject = subject, .to_do = to_do };
	va_list args;

	va_start(args, format);
	tell(checking, &finding, format, args);
	va_end(args);
}

void check_tell_lines(struct checking *checking, int level, const char *subject, const char *lines,
		      const char *file, const char *format, ...)
{
	char to_do[1500];
	struct ms_finding finding = {
		.level = level, .subject = subject, .to_do = to_do, .lines = lines, .file = file
	};
	va_list args;

	if (strchr(lines, '\n'))
		snprintf(to_do, sizeof(to_do), "write there what 'lwkctl setup --print' says");
	else
		snprintf(to_do, sizeof(to_do), "write %s in %s", lines, file);
	va_start(args, format);
	tell(checking, &finding, format, args);
	va_end(args);
}

int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context)
{
	struct checking checking = { .hear = hear, .context = context };

	check_ask_slurm(&checking);
	check_config(&checking, config_path);
	check_images(&checking);
	for (size_t i = 0; driver_number(i); i++)
		check_driver(&checking, driver_number(i));
	check_plugstack(&checking);
	check_settings(&checking);
	check_releases(&checking);
	check_slurm_node(&checking);
	check_memory(&checking);
	check_numa(&checking);
	check_cpu_numbers(&checking);
	check_cgroups(&checking);
	check_limits(&checking);
	check_interrupts(&checking);
	check_fred(&checking);
	check_tricks(&checking);
	check_age(&checking);
	check_vulnerabilities(&checking);
	check_jobs(&checking);
	check_over(&checking);
	check_journals(&checking);
	ms_config_free(checking.config);
	free(checking.slurm);
	free(checking.node);
	free(checking.partitions);
	free(checking.json);
	return checking.problems;
}
