// SPDX-License-Identifier: GPL-2.0-or-later
#include "task.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"
#include "command/cpu_binding.h"
#include "compat/slurm_compat.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/limits.h"
#include "modeswitch/watch.h"
#include "mpirun.h"
#include "options.h"
#include "verdict.h"

/* task_look() sets these, and the other calls use them. */
static struct ms_job job;
static bool refused;
static bool active;
static bool launch;
static bool report;
static bool is_script;	    /* the batch script, which waits for all nodes */
static bool is_step;	    /* made by srun, and no batch script */
static uint64_t kills_told; /* killed proxies that need not be told of (again) */

static void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void refuse(const char *format, ...)
{
	char text[sizeof(job.reason) + 256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* A step's image name is whatever its user wrote. */
	ms_make_printable(text);
	slurm_error("lwk: %s", text);
	refused = true;
}

static void check_record(uint32_t job_id, bool found, bool asked, const char *image)
{
	if (!found && asked)
		refuse("job %u is a Linux-only job, so nothing of it can run on an LWK: the "
		       "allocation was made without --lwk, or the administrator has taken its LWK "
		       "back since (lwkctl reset); give --lwk to the sbatch, salloc or srun that "
		       "makes the allocation",
		       job_id);
	else if (found && job.state == MS_JOB_REFUSED)
		refuse("job %u cannot have LWK mode on this node: %s", job_id, job.reason);
	else if (found && job.state != MS_JOB_ACTIVE)
		refuse("job %u is not in LWK mode on this node: %s", job_id,
		       job.reason[0] ? job.reason : "it is being switched");
	else if (found && asked && *image && strcmp(image, job.image))
		refuse("job %u runs the LWK image \"%s\", and a step cannot have another one "
		       "(--lwk=%s); leave the name out, or make an allocation with it",
		       job_id, job.image, image);
}

/* True when the argument holds srun --multi-prog's file. */
static bool is_multi_prog(const char *argument)
{
	const char *line = argument;

	if (!strchr(argument, '\n'))
		return false;
	while (*line == '#' || isspace((unsigned char)*line))
		line += *line == '#' ? strcspn(line, "\n") : 1;
	line += strspn(line, "0123456789,-*:");
	return line > argument && isspace((unsigned char)line[0]) &&
	       (isdigit((unsigned char)line[-1]) || line[-1] == '*');
}

static void check_program(spank_t sp)
{
	char **argv;
	int argc;

	if (!compat_launches_multi_prog() &&
	    spank_get_item(sp, S_JOB_ARGV, &argc, &argv) == ESPANK_SUCCESS && argc > 1 &&
	    is_multi_prog(argv[1]))
		refuse("the programs of srun --multi-prog cannot be put on the LWK for you; give "
		       "--lwk-launch=none, and in the file write lwkexec in front of each "
		       "program");
}

/* True when the job is a Linux-only one that has a record for --quiet-irqs. */
static bool is_linux_only(uint32_t job_id)
{
	if (job.state != MS_JOB_QUIET)
		return false;
	if (*job.reason)
		slurm_error("lwk: job %u has no quiet from device interrupts on this node "
			    "(--quiet-irqs): %s; it runs without",
			    job_id, job.reason);
	return true;
}

int task_look(spank_t sp)
{
	const char *image = "";
	uint32_t job_id, step_id;
	struct ms_error err;
	bool asked;
	int found;

	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS) {
		refuse("expected the job's id from Slurm, found none; have the administrator run "
		       "'lwkctl check'");
		return 0;
	}
	asked = options_lwk(sp, &image);
	found = ms_job_get(job_id, &job, &err);
	if (found < 0) {
		refuse("cannot tell whether job %u is an LWK job: %s", job_id, err.text);
		return 0;
	}
	found = found && !is_linux_only(job_id);
	check_record(job_id, found, asked, image);
	active = found && job.state == MS_JOB_ACTIVE;

	kills_told = active ? ms_limits_kills(&job, getpid()) : 0;
	is_script = step_id == SLURM_BATCH_SCRIPT;
	/* The batch script and salloc's shell on a node belong to the job's Linux side. */
	is_step = step_id <= SLURM_MAX_NORMAL_STEP_ID;
	launch = active && is_step && options_launch(sp);
	report = active && options_report(sp);
	if (launch && !refused)
		check_program(sp);
	return 0;
}

int task_refuse(void)
{
	struct ms_error err;

	/* From Slurm 23.11 on nothing can ask slurmctld in user_init. */
	if (active && is_script && !refused && verdict_await(job.job_id, &err) < 0)
		refuse("%s", err.text);
	return refused ? -1 : 0;
}

/*
 * With srun --bcast to a directory slurmstepd adds the file's name, but only to what it executes.
 */
static int complete_program(spank_t sp)
{
	char **argv, *path, node[256];
	uint32_t step_id;
	size_t length;
	int argc;

	if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1)
		return -1;
	length = strlen(argv[0]);
	if (!length || argv[0][length - 1] != '/')
		return 0;
	if (spank_get_item(sp, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS ||
	    spank_getenv(sp, "SLURMD_NODENAME", node, sizeof(node)) != ESPANK_SUCCESS ||
	    asprintf(&path, "%sslurm_bcast_%u.%u_%s", argv[0], job.job_id, step_id, node) < 0)
		return -1;
	argv[0] = path;
	return 0;
}

/* Hands over what lwkexec cannot know and reports. */
static int set_report(spank_t sp)
{
	char text[512], cpus[256];

	if (!report)
		return spank_unsetenv(sp, "LWK_REPORT");
	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job.lwk_cpus);
	snprintf(text, sizeof(text),
		 "job %u: LWK %s on CPUs %s, %ju MB in %u run%s, switched in %u ms", job.job_id,
		 job.image, cpus, (uintmax_t)(job.memory >> 20), job.runs, job.runs == 1 ? "" : "s",
		 job.switch_on_ms);
	return spank_setenv(sp, "LWK_REPORT", text, 1);
}

int task_launch(spank_t sp)
{
	static char lwkexec[] = LWKEXEC_PATH;
	char *launcher = *job.launcher ? job.launcher : lwkexec;

	if (!active)
		return 0;
	spank_unsetenv(sp, "LWK_ARGV0");
	set_report(sp); /* a missing report is no reason to fail */
	mpirun_prepare(sp, !launch);
	if (cpu_binding_hand_over(sp) < 0)
		return -1;
	if (spank_setenv(sp, "LWK_DEVICE", job.device, 1) != ESPANK_SUCCESS) {
		slurm_error("lwk: cannot tell the task its LWK: LWK_DEVICE cannot be set");
		return -1;
	}
	/* Slurm itself starts the launcher, so TaskProlog, limits and exit codes stay right. */
	if (!launch || (complete_program(sp) == 0 && compat_launch_by(sp, launcher) == 0))
		return 0;
	slurm_error("lwk: job %u: cannot put %s in front of the program", job.job_id, launcher);
	return -1;
}

int task_limit(spank_t sp)
{
	struct ms_error err;
	pid_t pid;

	if (spank_get_item(sp, S_TASK_PID, &pid) != ESPANK_SUCCESS)
		return 0;
	cgroups_name_nodes(pid);
	if (!active)
		return 0;
	cgroups_take(job.job_id);
	if (ms_limits_step(&job, pid, is_step, &err) == 0)
		return 0;
	slurm_error("lwk: job %u: its proxies cannot be limited: %s", job.job_id, err.text);
	kill(pid, SIGKILL);
	return 0;
}

static void tell_kills(void)
{
	uint64_t kills = ms_limits_kills(&job, getpid());

	if (kills <= kills_told)
		return;
	kills_told = kills;
	slurm_error("lwk: job %u: proxies (the processes of Linux that do the programs' system "
		    "calls) were killed: together they needed more than their limit of %ju MB of "
		    "memory on this node. What they write to memory file systems such as /dev/shm "
		    "counts, too. Ask for more with --lwk-proxy-mem=SIZE; here it can be up to "
		    "%juM.",
		    job.job_id, (uintmax_t)(job.proxies.memory >> 20),
		    (uintmax_t)(job.proxies.memory_max >> 20));
}

/* The launcher of another kind of LWK, which its guard has killed, says nothing. */
static void tell_failure(void)
{
	struct ms_instance_info info = { .state = MS_INSTANCE_RUNNING };
	struct ms_error ignored;
	struct ms_watch *watch;
	static bool told;

	if (told || !*job.launcher || ms_watch_open(job.job_id, &watch, &ignored) < 0)
		return;
	ms_watch_info(watch, &info, &ignored);
	ms_watch_close(watch);
	if (info.state != MS_INSTANCE_PANIC && info.state != MS_INSTANCE_HUNG)
		return;
	told = true;
	slurm_error(
		"lwk: job %u: expected its LWK %s to run, found it in %s, so that its programs were "
		"ended; have the administrator look at 'lwkctl kmsg' and DumpOnPanic= in " MS_CONFIG_PATH,
		job.job_id, job.image, ms_instance_state_word(info.state));
}

/* True when there is a dump, or was to be one. */
static bool tell_dump(void)
{
	static bool told;
	struct ms_error text;

	if (told || ms_dump_if_failed(job.job_id, &text) != 1)
		return told;
	told = true;
	slurm_error("lwk: job %u: %s", job.job_id, text.text);
	return true;
}

int task_ended(spank_t sp)
{
	if (!active)
		return 0;
	tell_kills();
	if (!tell_dump())
		tell_failure();
	return 0;
}
