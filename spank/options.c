// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

enum option_id {
	OPTION_LWK,
	OPTION_LAUNCH,
	OPTION_MEMORY,
	OPTION_NUMA,
	OPTION_PROXY_MEMORY,
	OPTION_REPORT,
	OPTION_QUIET,
	OPTION_COUNT
};

static int check_lwk(int val, const char *arg, int remote);
static int check_launch(int val, const char *arg, int remote);
static int check_memory(int val, const char *arg, int remote);
static int check_numa(int val, const char *arg, int remote);
static int check_proxy_memory(int val, const char *arg, int remote);
static int note_quiet(int val, const char *arg, int remote);

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
	[OPTION_MEMORY] = {
		.name = "lwk-mem",
		.arginfo = "SIZE|PERCENT|all",
		.usage = "with --lwk: how much of the job's memory on each node the LWK gets, such "
			 "as 2G or 50%; the rest stays with Linux. All but a little by default",
		.has_arg = required_argument,
		.val = OPTION_MEMORY,
		.cb = check_memory,
	},
	[OPTION_NUMA] = {
		.name = "lwk-numa",
		.arginfo = "local|interleave|bind=NODES",
		.usage = "with --lwk: from which NUMA nodes the LWK's memory comes: those of its "
			 "CPUs, all evenly, or only those named, such as bind=0,2-3",
		.has_arg = required_argument,
		.val = OPTION_NUMA,
		.cb = check_numa,
	},
	[OPTION_PROXY_MEMORY] = {
		.name = "lwk-proxy-mem",
		.arginfo = "SIZE",
		.usage = "with --lwk: how much of Linux's memory on each node the processes may use "
			 "that do the programs' system calls, such as 256M; see lwk.conf(5) for "
			 "the default and the maximum",
		.has_arg = required_argument,
		.val = OPTION_PROXY_MEMORY,
		.cb = check_proxy_memory,
	},
	[OPTION_REPORT] = {
		.name = "lwk-report",
		.usage = "with --lwk: print what the job's LWK did, one line, when the last of a "
			 "step's programs on a node has ended",
		.has_arg = no_argument,
		.val = OPTION_REPORT,
	},
	[OPTION_QUIET] = {
		.name = "quiet-irqs",
		.usage = "without --lwk: keep device interrupts away from the job's CPUs as long as "
			 "it runs; see slurm-lwk(7)",
		.has_arg = no_argument,
		.val = OPTION_QUIET,
		.cb = note_quiet,
	},
};

/* Which options this command was given; and, about srun, whether it is inside an LWK job. */
static bool given[OPTION_COUNT];
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
	given[OPTION_LWK] = true;
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

static int check_memory(int val, const char *arg, int remote)
{
	struct ms_amount amount;
	struct ms_error err;

	given[OPTION_MEMORY] = true;
	if (remote || ms_parse_amount(arg, &amount, &err) == 0)
		return 0;
	slurm_error("lwk: --lwk-mem: %s", err.text);
	return -1;
}

static int check_numa(int val, const char *arg, int remote)
{
	struct ms_numa numa;
	struct ms_error err;

	given[OPTION_NUMA] = true;
	if (remote)
		return 0;
	if (ms_parse_numa(arg, &numa, &err) == 0) {
		ms_numa_release(&numa);
		return 0;
	}
	slurm_error("lwk: --lwk-numa: %s", err.text);
	return -1;
}

static int check_proxy_memory(int val, const char *arg, int remote)
{
	struct ms_error err;
	uint64_t bytes;

	given[OPTION_PROXY_MEMORY] = true;
	if (remote || ms_parse_proxy_memory(arg, &bytes, &err) == 0)
		return 0;
	slurm_error("lwk: --lwk-proxy-mem: %s", err.text);
	return -1;
}

static int note_quiet(int val, const char *arg, int remote)
{
	given[OPTION_QUIET] = true;
	return 0;
}

#define OPTION_VARIABLE "_SLURM_SPANK_OPTION_lwk_"
#define LWK_OPTION_VARIABLE OPTION_VARIABLE "lwk"
/* The options that belong to one allocation. */
static const char *const allocation_variables[] = {
	LWK_OPTION_VARIABLE,	      LWK_OPTION_VARIABLE "_mem",
	LWK_OPTION_VARIABLE "_numa",  LWK_OPTION_VARIABLE "_proxy_mem",
	OPTION_VARIABLE "quiet_irqs",
};

/*
 * Slurm hands a job's SPANK options down to everything that is started inside
 * it. --lwk belongs to one allocation: a Linux-only job that is submitted from
 * an LWK job's script must not become an LWK job by that.
 */
static void forget_inherited(void)
{
	char in_job[64];

	for (size_t i = 0; i < sizeof(allocation_variables) / sizeof(*allocation_variables); i++) {
		unsetenv(allocation_variables[i]);
		snprintf(in_job, sizeof(in_job), "SLURM_SPANK_%s", allocation_variables[i]);
		if (getenv("SLURM_JOB_ID"))
			unsetenv(in_job);
	}
	if (getenv("SLURM_JOB_ID"))
		unsetenv("SLURM_SPANK_LWK_NUMA");
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
	return inside_lwk || (spank_context() == S_CTX_LOCAL && given[OPTION_LWK]);
}

static int check_quiet(bool step)
{
	if (!given[OPTION_QUIET])
		return 0;
	if (given[OPTION_LWK]) {
		slurm_error(
			"lwk: --quiet-irqs is for jobs without --lwk: the CPUs of an LWK have no "
			"device interrupts anyway. Leave one of the two out.");
		return -1;
	}
	if (step) {
		slurm_error("lwk: --quiet-irqs goes with the sbatch, salloc or srun that makes the "
			    "allocation. Give it there, or leave it out.");
		return -1;
	}
	return 0;
}

int options_check(void)
{
	static const enum option_id of_allocation[] = { OPTION_MEMORY, OPTION_NUMA,
							OPTION_PROXY_MEMORY };
	bool step = spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID");

	for (size_t i = 0; i < sizeof(of_allocation) / sizeof(*of_allocation); i++) {
		if (!given[of_allocation[i]] || (given[OPTION_LWK] && !step))
			continue;
		slurm_error("lwk: --%s goes with --lwk, at the sbatch, salloc or srun that makes "
			    "the allocation. Give it there, or leave it out.",
			    table[of_allocation[i]].name);
		return -1;
	}
	return check_quiet(step);
}

bool options_allocation(void)
{
	spank_context_t context = spank_context();

	return given[OPTION_LWK] &&
	       (context == S_CTX_ALLOCATOR || (context == S_CTX_LOCAL && !getenv("SLURM_JOB_ID")));
}

bool options_numa_given(void)
{
	return given[OPTION_NUMA];
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

static const char *argument(spank_t sp, enum option_id id)
{
	char *arg = NULL;

	return spank_option_getopt(sp, &table[id], &arg) == ESPANK_SUCCESS ? arg : NULL;
}

bool options_launch(spank_t sp)
{
	const char *arg = argument(sp, OPTION_LAUNCH);

	return !arg || strcmp(arg, "none");
}

const char *options_memory(spank_t sp)
{
	return argument(sp, OPTION_MEMORY);
}

const char *options_numa(spank_t sp)
{
	return argument(sp, OPTION_NUMA);
}

const char *options_proxy_memory(spank_t sp)
{
	return argument(sp, OPTION_PROXY_MEMORY);
}

static bool has_option(spank_t sp, enum option_id id)
{
	char *arg = NULL;

	return spank_option_getopt(sp, &table[id], &arg) == ESPANK_SUCCESS;
}

bool options_report(spank_t sp)
{
	return has_option(sp, OPTION_REPORT);
}

bool options_quiet(spank_t sp)
{
	return has_option(sp, OPTION_QUIET);
}
