// SPDX-License-Identifier: GPL-2.0-or-later
#include "os_cores.h"

#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"

static int fail(uint32_t job_id, const char *what)
{
	slurm_error("lwk: job %u: cannot put its Linux side on the OS cores: %s: %s", job_id, what,
		    strerror(errno));
	return -1;
}

/* Adds CPUs to a cpuset, unless its list is empty: then it has its parent's CPUs. */
static int add_cpus(const char *directory, const char *cpus)
{
	char path[PATH_MAX], has[4096] = "";
	FILE *file;
	int ret;

	if (snprintf(path, sizeof(path), "%s/cpuset.cpus", directory) >= (int)sizeof(path))
		return 0;
	file = fopen(path, "r+e");
	if (!file)
		return errno == ENOENT ? 0 : -1;
	if (!fgets(has, sizeof(has), file) || has[0] == '\n') {
		fclose(file);
		return 0;
	}
	has[strcspn(has, "\n")] = '\0';
	rewind(file);
	/* fclose() makes one write(2) of it. */
	ret = fprintf(file, "%s,%s\n", has, cpus);
	return fclose(file) == 0 && ret > 0 ? 0 : -1;
}

/* Adds CPUs to the job's cpuset and to those below it that this process is in. */
static int widen_cpusets(uint32_t job_id, const char *cpus)
{
	struct process_cgroup around;
	struct hierarchy cpusets;
	char *end;
	int error = hierarchy_find("cpuset", &cpusets);

	if (error == -ENOENT)
		return 0;
	if (error) {
		errno = -error;
		return fail(job_id, "/proc/self/mounts");
	}
	if (process_cgroup_find(&cpusets, getpid(), job_id, &around) < 0)
		return 0;
	for (end = around.path + around.job;; end += 1 + strcspn(end + 1, "/")) {
		char below = *end;

		*end = '\0';
		if (add_cpus(around.path, cpus) < 0)
			return fail(job_id, around.path);
		if (!below)
			return 0;
		*end = below;
	}
}

/* Binds this process, which on a node without cpusets is all that keeps it there. */
static int bind_process(uint32_t job_id, hwloc_const_bitmap_t cpus)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	hwloc_bitmap_foreach_begin(cpu, cpus) {
		if (cpu < CPU_SETSIZE)
			CPU_SET(cpu, &set);
	}
	hwloc_bitmap_foreach_end();
	return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : fail(job_id, "sched_setaffinity");
}

static int enter(uint32_t job_id)
{
	struct ms_config *config;
	struct ms_error err;
	char *cpus = NULL;
	int ret = -1;

	if (ms_config_load(MS_CONFIG_PATH, &config, &err) < 0) {
		slurm_error("lwk: job %u: cannot tell the OS cores: %s", job_id, err.text);
		return -1;
	}
	if (hwloc_bitmap_list_asprintf(&cpus, config->os_cpus) < 0)
		fail(job_id, "memory");
	else if (widen_cpusets(job_id, cpus) == 0)
		ret = bind_process(job_id, config->os_cpus);
	free(cpus);
	ms_config_free(config);
	return ret;
}

int os_cores_enter(uint32_t job_id)
{
	struct ms_job job;
	struct ms_error err;
	bool none_left;

	/* The SPANK plugin refuses a job whose record cannot be read. */
	if (ms_job_get(job_id, &job, &err) != 1)
		return 0;
	none_left = job.state == MS_JOB_ACTIVE && hwloc_bitmap_iszero(job.linux_cpus);
	ms_job_release(&job);
	return none_left ? enter(job_id) : 0;
}
