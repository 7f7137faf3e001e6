// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeswitch/error.h"
#include "mpirun.h"
#include "option_forms.h"

enum option_id {
	OPTION_LWK,
	OPTION_LAUNCH,
	OPTION_MEMORY,
	OPTION_NUMA,
	OPTION_PROXY_MEMORY,
	OPTION_REPORT,
	OPTION_QUIET,
	OPTION_MPI_PROFILE,
	OPTION_MPI_COLLECTIVES,
	OPTION_MPI_PLACE,
	OPTION_COUNT
};

static struct plugin_option {
	struct spank_option spank;
	int (*check)(const char *arg, struct ms_error *err); /* NULL: there is no argument */
	bool of_allocation; /* it belongs to one allocation, and its steps do not inherit it */
	bool given;	    /* to this command */
} options[OPTION_COUNT] = {
	[OPTION_LWK] = {
		.spank = {
			.name = "lwk",
			.arginfo = "[IMAGE]",
			.usage = "run the job's programs on a light-weight kernel, on the CPUs and "
				 "memory of the job; see slurm-lwk(7)",
			.has_arg = optional_argument,
		},
		.check = form_image,
		.of_allocation = true,
	},
	[OPTION_LAUNCH] = {
		.spank = {
			.name = "lwk-launch",
			.arginfo = "auto|none",
			.usage = "with --lwk: whether srun puts programs on the LWK by itself (auto, "
				 "the default) or leaves that to your own calls of lwkexec (none)",
			.has_arg = required_argument,
		},
		.check = form_launch,
	},
	[OPTION_MEMORY] = {
		.spank = {
			.name = "lwk-mem",
			.arginfo = "SIZE|PERCENT|all",
			.usage = "with --lwk: how much of the job's memory on each node the LWK gets, "
				 "such as 2G or 50%; the rest stays with Linux. All but a little by "
				 "default",
			.has_arg = required_argument,
		},
		.check = form_memory,
		.of_allocation = true,
	},
	[OPTION_NUMA] = {
		.spank = {
			.name = "lwk-numa",
			.arginfo = "local|interleave|bind=NODES",
			.usage = "with --lwk: from which NUMA nodes the LWK's memory comes: those of "
				 "its CPUs, all evenly, or only those named, such as bind=0,2-3",
			.has_arg = required_argument,
		},
		.check = form_numa,
		.of_allocation = true,
	},
	[OPTION_PROXY_MEMORY] = {
		.spank = {
			.name = "lwk-proxy-mem",
			.arginfo = "SIZE",
			.usage = "with --lwk: how much of Linux's memory on each node the processes "
				 "may use that do the programs' system calls, such as 256M; see "
				 "lwk.conf(5) for the default and the maximum",
			.has_arg = required_argument,
		},
		.check = form_proxy_memory,
		.of_allocation = true,
	},
	[OPTION_REPORT] = {
		.spank = {
			.name = "lwk-report",
			.usage = "with --lwk: print what the job's LWK did, one line, when the last "
				 "of a step's programs on a node has ended",
			.has_arg = no_argument,
		},
	},
	[OPTION_QUIET] = {
		.spank = {
			.name = "quiet-irqs",
			.usage = "without --lwk: keep device interrupts away from the job's CPUs as "
				 "long as it runs; see slurm-lwk(7)",
			.has_arg = no_argument,
		},
		.of_allocation = true,
	},
	[OPTION_MPI_PROFILE] = {
		.spank = {
			.name = "mpi-profile",
			.arginfo = "[FILE]",
			.usage = "count who sends how much to whom by MPI, and write that to FILE "
				 "(mpi-JOB.STEP.json by default); lwkctl mpi shows it",
			.has_arg = optional_argument,
		},
		.check = form_mpi_profile,
	},
	[OPTION_MPI_COLLECTIVES] = {
		.spank = {
			.name = "mpi-collectives",
			.arginfo = "sites[,reproducible]",
			.usage = "have MPI's collective operations cross seldom between the switches of "
				 "Slurm's topology, where that is faster; with \"reproducible\" only "
				 "those that compute nothing",
			.has_arg = required_argument,
		},
		.check = form_mpi_collectives,
	},
	[OPTION_MPI_PLACE] = {
		.spank = {
			.name = "mpi-place",
			.arginfo = "PROFILE",
			.usage = "put ranks on nodes of the job so that those that send much to each "
				 "other by the profile PROFILE are close together",
			.has_arg = required_argument,
		},
		.check = form_mpi_place,
	},
};

/* In srun: it is inside an LWK job. */
static bool inside_lwk;

/* Slurm calls it for each option that was given. */
static int note(int id, const char *arg, int remote)
{
	struct plugin_option *option = &options[id];
	struct ms_error err;

	option->given = true;
	if (remote || !option->check || option->check(arg, &err) == 0)
		return 0;
	slurm_error("lwk: --%s: %s", option->spank.name, err.text);
	return -1;
}

/* Slurm's environment variable for an option: "lwk-mem" is in _SLURM_SPANK_OPTION_lwk_lwk_mem. */
static void option_variable(enum option_id id, char *text, size_t size)
{
	snprintf(text, size, "_SLURM_SPANK_OPTION_lwk_%s", options[id].spank.name);
	for (char *at = text; (at = strchr(at, '-'));)
		*at = '_';
}

/*
 * Slurm hands a job's SPANK options down to everything that is started inside the job. --lwk
 * belongs to one allocation: a Linux-only job that is submitted from an LWK job's script must not
 * become an LWK job by that.
 */
static void forget_inherited(void)
{
	bool in_job = getenv("SLURM_JOB_ID");
	char variable[64], handed_down[96];

	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!options[i].of_allocation)
			continue;
		option_variable(i, variable, sizeof(variable));
		unsetenv(variable);
		snprintf(handed_down, sizeof(handed_down), "SLURM_SPANK_%s", variable);
		if (in_job)
			unsetenv(handed_down);
	}
	if (in_job)
		unsetenv("SLURM_SPANK_LWK_NUMA");
	/* A step of an LWK job may be mpirun's, and takes them to other nodes. */
	if (in_job && !inside_lwk)
		mpirun_forget();
	if (!inside_lwk)
		unsetenv("LWK_DEVICE");
}

/* True when the command line has --lwk. A program's argument of that name counts, too. */
static bool command_line_has_lwk(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char *argument = NULL;
	size_t size = 0;
	bool found = false;

	if (!file)
		return false;
	while (!found && getdelim(&argument, &size, '\0', file) > 0)
		found = !strcmp(argument, "--lwk") || !strncmp(argument, "--lwk=", 6);
	free(argument);
	fclose(file);
	return found;
}

/* A batch script's environment has the device, the one of salloc's shell has the option. */
static bool is_inside_lwk_job(void)
{
	char variable[64];

	option_variable(OPTION_LWK, variable, sizeof(variable));
	return getenv("SLURM_JOB_ID") && (getenv("LWK_DEVICE") || getenv(variable));
}

bool options_maybe_lwk_step(void)
{
	return inside_lwk || (spank_context() == S_CTX_LOCAL && command_line_has_lwk());
}

bool options_lwk_step(void)
{
	return inside_lwk || (spank_context() == S_CTX_LOCAL && options[OPTION_LWK].given);
}

static int check_quiet(bool step)
{
	if (!options[OPTION_QUIET].given)
		return 0;
	if (options[OPTION_LWK].given) {
		slurm_error(
			"lwk: expected --quiet-irqs or --lwk, found both: the CPUs of an LWK have no "
			"device interrupts anyway; leave one of the two out");
		return -1;
	}
	if (step) {
		slurm_error("lwk: expected --quiet-irqs at the sbatch, salloc or srun that makes "
			    "the allocation, found it at a step; give it there, or leave it out");
		return -1;
	}
	return 0;
}

int options_check(void)
{
	bool step = spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID");

	for (int i = 0; i < OPTION_COUNT; i++) {
		if (i == OPTION_LWK || i == OPTION_QUIET || !options[i].of_allocation ||
		    !options[i].given || (options[OPTION_LWK].given && !step))
			continue;
		slurm_error(
			"lwk: expected --%s with --lwk, at the sbatch, salloc or srun that makes "
			"the allocation, found it %s; give it there, or leave it out",
			options[i].spank.name, step ? "at a step" : "alone");
		return -1;
	}
	return check_quiet(step);
}

bool options_allocation(void)
{
	spank_context_t context = spank_context();

	return options[OPTION_LWK].given &&
	       (context == S_CTX_ALLOCATOR || (context == S_CTX_LOCAL && !getenv("SLURM_JOB_ID")));
}

bool options_numa_given(void)
{
	return options[OPTION_NUMA].given;
}

int options_register(spank_t sp)
{
	spank_context_t context = spank_context();

	if (context == S_CTX_LOCAL)
		inside_lwk = is_inside_lwk_job();
	if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR)
		forget_inherited();
	else if (context != S_CTX_REMOTE)
		return 0;
	for (int i = 0; i < OPTION_COUNT; i++) {
		options[i].spank.val = i;
		options[i].spank.cb = note;
		if (spank_option_register(sp, &options[i].spank) != ESPANK_SUCCESS) {
			slurm_error("lwk: cannot register the option --%s; see whether another "
				    "plugin has it",
				    options[i].spank.name);
			return -1;
		}
	}
	return 0;
}

bool options_lwk(spank_t sp, const char **image)
{
	char *arg = NULL;

	if (spank_option_getopt(sp, &options[OPTION_LWK].spank, &arg) != ESPANK_SUCCESS)
		return false;
	*image = form_has_argument(arg) ? arg : "";
	return true;
}

static const char *argument(spank_t sp, enum option_id id)
{
	char *arg = NULL;

	return spank_option_getopt(sp, &options[id].spank, &arg) == ESPANK_SUCCESS ? arg : NULL;
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

	return spank_option_getopt(sp, &options[id].spank, &arg) == ESPANK_SUCCESS;
}

bool options_report(spank_t sp)
{
	return has_option(sp, OPTION_REPORT);
}

const char *options_mpi_profile(spank_t sp)
{
	char *arg = NULL;

	if (spank_option_getopt(sp, &options[OPTION_MPI_PROFILE].spank, &arg) != ESPANK_SUCCESS)
		return NULL;
	return form_has_argument(arg) && strlen(arg) < FORM_PROFILE_MAX ? arg : "";
}

const char *options_mpi_collectives(spank_t sp)
{
	const char *arg = argument(sp, OPTION_MPI_COLLECTIVES);

	return arg && form_is_collectives(arg) ? arg : NULL;
}

bool options_mpi_place(spank_t sp)
{
	return has_option(sp, OPTION_MPI_PLACE);
}

bool options_quiet(spank_t sp)
{
	return has_option(sp, OPTION_QUIET);
}
