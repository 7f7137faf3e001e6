// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeswitch.h"

enum option_id { OPTION_LWK, OPTION_LAUNCH, OPTION_COUNT };

static int check_lwk(int val, const char *arg, int remote);
static int check_launch(int val, const char *arg, int remote);

static struct spank_option table[OPTION_COUNT] = {
	[OPTION_LWK] = {
		.name = "lwk",
		.arginfo = "[IMAGE]",
		.usage = "run the job's programs on a light-weight kernel, on the CPUs and "
			 "memory of the job; see slurm-lwk(7)",
		.has_arg = optional_argument,
		.val = OPTION_LWK,
		.cb = check_lwk,
	},
	[OPTION_LAUNCH] = {
		.name = "lwk-launch",
		.arginfo = "auto|none",
		.usage = "with --lwk: whether srun puts programs on the LWK by itself (auto, the "
			 "default) or leaves that to your own calls of lwkexec (none)",
		.has_arg = required_argument,
		.val = OPTION_LAUNCH,
		.cb = check_launch,
	},
};

/* About srun: whether it has --lwk, and whether it is inside an LWK job. */
static bool given;
static bool inside_lwk;

/*
 * An option without argument is "(null)" in Slurm's own environment variables,
 * which the prolog reads, and sbatch before each further component of a job.
 */
static bool has_name(const char *arg)
{
	return arg && *arg && strcmp(arg, "(null)");
}

/*
 * The callbacks run in the user's process, where a refusal costs nobody
 * anything; slurmstepd calls them again, where a failure would have Slurm call
 * the job completed. What counts there is checked where it is used.
 */
static int check_lwk(int val, const char *arg, int remote)
{
	given = true;
	if (remote || !has_name(arg) || ms_image_name_valid(arg))
		return 0;
	slurm_error("lwk: --lwk wants the name of an LWK image: a letter or digit, then letters, "
		    "digits, '.', '_' or '-', at most %d characters in all; found \"%s\". Leave "
		    "the name out for the site's default image.",
		    MS_IMAGE_NAME_MAX, arg);
	return -1;
}

static int check_launch(int val, const char *arg, int remote)
{
	if (remote || !strcmp(arg, "auto") || !strcmp(arg, "none"))
		return 0;
	slurm_error("lwk: --lwk-launch wants \"auto\" or \"none\"; found \"%s\".", arg);
	return -1;
}

#define LWK_OPTION_VARIABLE "_SLURM_SPANK_OPTION_lwk_lwk"

/*
 * Slurm hands a job's SPANK options down to everything that is started inside
 * it. --lwk belongs to one allocation: a Linux-only job that is submitted from
 * an LWK job's script must not become an LWK job by that.
 */
static void forget_inherited(void)
{
	unsetenv(LWK_OPTION_VARIABLE);
	if (getenv("SLURM_JOB_ID"))
		unsetenv("SLURM_SPANK_" LWK_OPTION_VARIABLE);
	if (!inside_lwk)
		unsetenv("LWK_DEVICE");
}

/* True also for a program's argument of that name. */
static bool has_argument(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char *argument = NULL;
	size_t size = 0;
	bool asks = false;

	if (!file)
		return false;
	while (!asks && getdelim(&argument, &size, '\0', file) > 0)
		asks = !strcmp(argument, "--lwk") || !strncmp(argument, "--lwk=", 6);
	free(argument);
	fclose(file);
	return asks;
}

/* The device is in the environment of a batch script, the option in that of salloc's shell. */
static bool inside_lwk_job(void)
{
	return getenv("SLURM_JOB_ID") && (getenv("LWK_DEVICE") || getenv(LWK_OPTION_VARIABLE));
}

bool options_maybe_lwk_step(void)
{
	return inside_lwk || (spank_context() == S_CTX_LOCAL && has_argument());
}

bool options_lwk_step(void)
{
	return inside_lwk || (spank_context() == S_CTX_LOCAL && given);
}

int options_register(spank_t sp)
{
	spank_context_t context = spank_context();

	if (context == S_CTX_LOCAL)
		inside_lwk = inside_lwk_job();
	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR)
		forget_inherited();
	else if (context != S_CTX_REMOTE)
		return 0;
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (spank_option_register(sp, &table[i]) != ESPANK_SUCCESS) {
			slurm_error("lwk: cannot register the option --%s; is it another plugin's "
				    "too?",
				    table[i].name);
			return -1;
		}
	}
	return 0;
}

bool options_lwk(spank_t sp, const char **image)
{
	char *arg = NULL;

	if (spank_option_getopt(sp, &table[OPTION_LWK], &arg) != ESPANK_SUCCESS)
		return false;
	*image = has_name(arg) ? arg : "";
	return true;
}

bool options_launch(spank_t sp)
{
	char *arg = NULL;

	if (spank_option_getopt(sp, &table[OPTION_LAUNCH], &arg) != ESPANK_SUCCESS)
		return true;
	return !arg || strcmp(arg, "none");
}
