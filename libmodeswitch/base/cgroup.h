/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where this node's cgroups are, and which of them a process or a job of Slurm has. The plugins
 * contain a copy of this code; libcgroup, which keeps state for its process, stays out of slurmd.
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
