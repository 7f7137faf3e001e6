// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets the limits of proxies on cgroups of version 2 that Slurm makes: that of the job, and "user"
 * in that of a step, which has the tasks.
 */
#include "limits/cgroup_v2.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "limits/limits.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/limits.h"

#define PERIOD_US 100000
#define PATH_SIZE 4096

/* The cgroups around a process, as Slurm makes them. */
struct place {
	char scope[PATH_SIZE]; /* the parent of all jobs */
	char job[PATH_SIZE];
	char tasks[PATH_SIZE + sizeof("/user")]; /* the tasks of its step */
};

static int find_place(uint32_t job_id, pid_t pid, struct place *place, struct ms_error *err)
{
	static const struct hierarchy hierarchy = { .mount = CGROUP2_MOUNT, .version_2 = true };
	struct process_cgroup around;
	int error = process_cgroup_find(&hierarchy, pid, job_id, &around);

	if (error && !*around.path)
		return ms_fail(err, "the cgroup of process %d cannot be read: %s", (int)pid,
			       strerror(-error));
	if (error || !around.step)
		return ms_fail(err,
			       "expected process %d in Slurm's cgroup of job %u, found %s; "
			       "the administrator's remedy is ProctrackType=proctrack/cgroup in "
			       "slurm.conf",
			       (int)pid, job_id, around.path);
	snprintf(place->scope, sizeof(place->scope), "%.*s", (int)around.parent, around.path);
	snprintf(place->job, sizeof(place->job), "%.*s", (int)around.job, around.path);
	snprintf(place->tasks, sizeof(place->tasks), "%.*s/user", (int)around.step, around.path);
	return 0;
}

/* A controller that Slurm does not have is an error only with ProxyLimits=require. */
static int set(const struct ms_limits *limits, const char *group, const char *file,
	       const char *value, struct ms_error *err)
{
	int error = kernel_write(value, "%s/%s", group, file);

	if (!error || (error == -ENOENT && !limits->required))
		return 0;
	return ms_fail(err, "%s/%s cannot be set to %s: %s%s", group, file, value, strerror(-error),
		       error == -ENOENT
			       ? "; the administrator's remedy is Delegate=yes in slurmd.service, "
				 "or ProxyLimits=available in " MS_CONFIG_PATH
			       : "");
}

static int set_list(const struct ms_limits *limits, const char *group, const char *file,
		    hwloc_const_bitmap_t list, struct ms_error *err)
{
	char *text = NULL;
	int ret;

	if (hwloc_bitmap_list_asprintf(&text, list) < 0)
		return ms_fail(err, "out of memory");
	ret = set(limits, group, file, text, err);
	free(text);
	return ret;
}

/* A lower limit of Slurm's own stays. */
static int set_memory(const struct ms_limits *limits, const char *group, struct ms_error *err)
{
	char text[32];

	if (kernel_read(text, sizeof(text), "%s/memory.max", group) > 0 &&
	    strcmp(text, "max") != 0 && strtoull(text, NULL, 10) <= limits->memory)
		return 0;
	snprintf(text, sizeof(text), "%ju", (uintmax_t)limits->memory);
	return set(limits, group, "memory.max", text, err);
}

static int set_pids(const struct ms_limits *limits, const struct place *place, struct ms_error *err)
{
	char text[16];

	/* Slurm does not enable this controller. */
	kernel_write("+pids", "%s/cgroup.subtree_control", place->scope);
	snprintf(text, sizeof(text), "%u", limits->pids);
	return set(limits, place->job, "pids.max", text, err);
}

static bool has_share(const struct ms_job *job)
{
	return job->state == MS_JOB_ACTIVE && job->proxies.cpu_percent;
}

struct share {
	char max[32], weight[16];
};

static int set_share(const struct job_cgroup *cgroup, void *context)
{
	const struct share *share = context;

	if (cgroup->version_2) {
		kernel_write(share->max, "%s/cpu.max", cgroup->path);
		kernel_write(share->weight, "%s/cpu.weight", cgroup->path);
	}
	return 0;
}

/* A job that has no cgroup yet gets its share with its first step. */
static void give_share(uint32_t job_id, unsigned percent, unsigned weight)
{
	struct share share;

	snprintf(share.max, sizeof(share.max), "%u %u", percent * (PERIOD_US / 100), PERIOD_US);
	snprintf(share.weight, sizeof(share.weight), "%u", weight);
	job_cgroups_each(job_id, set_share, &share);
}

void ms_limits_share(void)
{
	struct ms_error ignored;
	struct ms_job *jobs;
	unsigned sharing = 0;
	size_t n;

	if (!cgroup2_is_used() || ms_job_list(&jobs, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		sharing += has_share(&jobs[i]);
	for (size_t i = 0; i < n; i++) {
		if (has_share(&jobs[i]))
			give_share(jobs[i].job_id, MAX(jobs[i].proxies.cpu_percent / sharing, 1),
				   jobs[i].proxies.weight_percent);
	}
	ms_job_list_free(jobs, n);
}

int cgroup_v2_limit(const struct ms_job *job, pid_t pid, bool is_step, struct ms_error *err)
{
	const struct ms_limits *limits = &job->proxies;
	struct place place;

	if (find_place(job->job_id, pid, &place, err) < 0)
		return limits->required ? -1 : 0;
	if (set_pids(limits, &place, err) < 0)
		return -1;
	if (limits->cpu_percent)
		ms_limits_share();
	if (!is_step)
		return 0;
	if (set_list(limits, place.tasks, "cpuset.cpus", limits->cpus, err) < 0 ||
	    set_list(limits, place.tasks, "cpuset.mems", limits->nodes, err) < 0)
		return -1;
	return set_memory(limits, place.tasks, err);
}

int cgroup_v2_read(uint32_t job_id, pid_t pid, const char *file, char *text, size_t size)
{
	struct ms_error ignored;
	struct place place;

	if (find_place(job_id, pid, &place, &ignored) < 0)
		return -1;
	return kernel_read(text, size, "%s/%s", place.tasks, file) < 0 ? -1 : 0;
}
