/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds this node's cgroups, and those that a process or a job of Slurm has. Nothing else knows the
 * places of Slurm's cgroups. The plugins contain a copy of this code; libcgroup, which keeps state
 * for its process, stays out of slurmd.
 *
 * Slurm 20.11 to 26.05 has a job's cgroups, below a mount point, at
 *	version 1	slurm[_NODE]/uid_USER/job_ID/step_STEP/task_TASK
 *	version 2	SLICE/[NODE_]slurmstepd.scope/JOB/step_STEP/{slurm,user/task_TASK}
 * SLICE is system.slice, or since 25.11 what CgroupSlice in cgroup.conf says. JOB is job_ID, or
 * since 26.05 the job's SLUID, "s" and 13 letters and digits, unless CgroupJobIdPaths=yes. A
 * SLUID does not tell the job's number; the title of slurmstepd, which is in "slurm", does.
 */
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP2_MOUNT "/sys/fs/cgroup"

/* Returns true if this node uses cgroup version 2: its hierarchy is mounted at CGROUP2_MOUNT. */
bool cgroup2_is_used(void);

/* A mounted hierarchy of cgroups. */
struct hierarchy {
	char mount[PATH_MAX]; /* mount point */
	bool version_2;
	const char *controller; /* as given to hierarchy_find() */
};

/*
 * Finds the hierarchy of a controller: the one of version 1 that is mounted with it, else the one
 * of version 2, which need not have the controller. 0, -ENOENT when there is neither, or another
 * negative errno when the mounts cannot be read. Keeps the pointer 'controller'.
 */
int hierarchy_find(const char *controller, struct hierarchy *hierarchy);

/*
 * Writes the directory of the process's cgroup in this hierarchy, which begins with its mount
 * point, to 'path'. 0; -ENOENT when the process is gone or not in it; -ENAMETOOLONG; or another
 * negative errno.
 */
int hierarchy_path_of_process(const struct hierarchy *hierarchy, pid_t pid, char *path,
			      size_t size);

/* The cgroup of a process of a job, and those of the job around it. */
struct process_cgroup {
	char path[PATH_MAX]; /* begins with the mount point */
	size_t parent;	     /* length of the part of 'path' that is the parent of jobs */
	size_t job;	     /* length of the part that is the job's cgroup */
	size_t step;	     /* length of the part that is the step's; 0: the process is in none */
};

/*
 * Finds the cgroups of a process of this job. 0; -ENOENT when the process is gone, not in the
 * hierarchy or not in a cgroup of this job, and 'path' is its cgroup or ""; or another negative
 * errno. A job whose cgroup has a SLUID for a name is taken for this one.
 */
int process_cgroup_find(const struct hierarchy *hierarchy, pid_t pid, uint32_t job_id,
			struct process_cgroup *found);

/* Returns the job of Slurm whose cgroup the process is in; 0 when it is in none. */
uint32_t job_of_process(pid_t pid);

#define ALL_JOBS 0

/* A job's cgroup in one hierarchy; valid only during the call that gets it. */
struct job_cgroup {
	const char *path;  /* its directory */
	const char *mount; /* the mount point of its hierarchy */
	bool version_2;
	bool has_cpusets; /* true for version 2 */
};

/*
 * Calls each() with the cgroup of the job, or of every job (ALL_JOBS), in every hierarchy, one
 * hierarchy after the other, until a call returns something other than 0; returns that, or 0, or a
 * positive errno when the mounts cannot be read. Leaves out directories that are not root's,
 * because users can make some of these names where they may make cgroups.
 */
int job_cgroups_each(uint32_t job_id, int (*each)(const struct job_cgroup *cgroup, void *context),
		     void *context);

#endif
