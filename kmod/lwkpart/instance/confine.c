// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves a process into its job's cgroups when it becomes a proxy, however it was started: by srun,
 * from a batch script, by another proxy. The cgroups belong to root, so that it cannot leave them.
 *
 * The program that prepared the instance has opened the cgroups' files (cgroup.procs). They are
 * written with the credentials of that program.
 */
#include "instance/confine.h"

#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>

static bool is_cgroup_file(const struct file *file)
{
	unsigned long magic = file_inode(file)->i_sb->s_magic;

	return (magic == CGROUP_SUPER_MAGIC || magic == CGROUP2_SUPER_MAGIC) &&
	       S_ISREG(file_inode(file)->i_mode) && (file->f_mode & FMODE_WRITE);
}

static void put_files(struct file *const *files)
{
	unsigned int i;

	for (i = 0; i < LWKPART_MAX_GROUPS && files[i]; i++)
		fput(files[i]);
}

static int get_files(const struct lwkpart_confine *request, struct file **files)
{
	unsigned int i;

	for (i = 0; i < request->count; i++) {
		files[i] = fget(request->fds[i]);
		if (!files[i])
			return -EBADF;
		if (!is_cgroup_file(files[i]))
			return -EINVAL;
	}
	return 0;
}

void confinement_init(struct confinement *confinement)
{
	mutex_init(&confinement->mutex);
}

int confinement_set(struct confinement *confinement, const struct lwkpart_confine *request)
{
	struct file *files[LWKPART_MAX_GROUPS] = {};
	unsigned int i;
	int error = get_files(request, files);

	if (error) {
		put_files(files);
		return error;
	}
	mutex_lock(&confinement->mutex);
	for (i = 0; i < LWKPART_MAX_GROUPS; i++)
		swap(confinement->groups[i], files[i]);
	mutex_unlock(&confinement->mutex);
	put_files(files);
	return 0;
}

void confinement_release(struct confinement *confinement)
{
	put_files(confinement->groups);
}

static int write_self(struct file *file)
{
	const struct cred *cred = override_creds(file->f_cred);
	loff_t position = 0;
	ssize_t written = kernel_write(file, "0", 1, &position);

	revert_creds(cred);
	return written < 0 ? written : 0;
}

int confine_current(struct confinement *confinement)
{
	struct file *files[LWKPART_MAX_GROUPS] = {};
	unsigned int i;
	int error = 0;

	/* A move may wait for other work of Linux on cgroups: the mutex is not held meanwhile. */
	mutex_lock(&confinement->mutex);
	for (i = 0; i < LWKPART_MAX_GROUPS && confinement->groups[i]; i++)
		files[i] = get_file(confinement->groups[i]);
	mutex_unlock(&confinement->mutex);
	for (i = 0; i < LWKPART_MAX_GROUPS && files[i] && !error; i++)
		error = write_self(files[i]);
	put_files(files);
	return error;
}
