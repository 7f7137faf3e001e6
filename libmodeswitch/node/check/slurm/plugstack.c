// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks whether Slurm loads the SPANK plugin, and as a required one.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"

/*
 * True when this plugstack.conf, or a file that it includes, requires the plugin. Slurm ignores the
 * refusals of an optional plugin: a job that cannot have its LWK would silently run on Linux.
 */
static bool stack_has_plugin(const char *path, int depth)
{
	FILE *file = fopen(path, "re");
	char line[4096], word[4096], argument[4096];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		glob_t files;

		if (sscanf(line, "%4095s %4095s", word, argument) != 2)
			continue;
		if (strcmp(word, "include") == 0 && depth < 4 &&
		    glob(argument, 0, NULL, &files) == 0) {
			for (size_t i = 0; i < files.gl_pathc; i++)
				found |= stack_has_plugin(files.gl_pathv[i], depth + 1);
			globfree(&files);
		} else if (strcmp(word, "required") == 0) {
			const char *base = strrchr(argument, '/');

			found = strcmp(base ? base + 1 : argument, "lwk.so") == 0;
		}
	}
	if (file)
		fclose(file);
	return found;
}

/* A configless node has what slurmd got from the controller, whose own path scontrol names. */
static bool configless_has_plugin(const char *controllers_path)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/run/slurm/conf/plugstack.conf", files_root);
	return access(controllers_path, F_OK) < 0 && stack_has_plugin(path, 0);
}

void check_plugstack(struct checking *checking)
{
	char path[1024], set[512] = "", conf[512] = "";
	const char *beside;

	if (checking->slurm) {
		check_setting(checking->slurm, "PlugStackConfig", set, sizeof(set));
		check_setting(checking->slurm, "SLURM_CONF", conf, sizeof(conf));
	}
	/* Without an answer of Slurm's: lwk.conf is beside slurm.conf, too. */
	beside = *conf == '/' ? conf : MS_CONFIG_PATH;
	if (*set == '/')
		snprintf(path, sizeof(path), "%s", set);
	else
		snprintf(path, sizeof(path), "%.*s/plugstack.conf",
			 (int)(strrchr(beside, '/') - beside), beside);
	if (stack_has_plugin(path, 0) || configless_has_plugin(path))
		check_tell(checking, MS_FINE, "plugstack", NULL, "%s loads lwk.so", path);
	else
		check_tell_lines(
			checking, MS_PROBLEM, "plugstack", "required lwk.so", path,
			"%s does not require lwk.so: Slurm would not know --lwk, or ignore refusals",
			path);
}
