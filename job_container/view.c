// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"

static int fail(const struct ms_job *job, const char *what)
{
	slurm_error("lwk: job %u: cannot give a task its private view of %s: %s: %s", job->job_id,
		    job->device, what, strerror(errno));
	return -1;
}

/*
 * Shows the device, and no other, in the directory of all of them. 'node' is a path of the device.
 */
static int cover(const struct ms_job *job, const char *node)
{
	int file;

	if (mount("lwk", LWK_DEVICE_DIR, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=4k") < 0)
		return fail(job, "mounting a tmpfs on " LWK_DEVICE_DIR);
	file = open(job->device, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (file < 0)
		return fail(job, "making a file for the device");
	close(file);
	if (mount(node, job->device, NULL, MS_BIND, NULL) < 0)
		return fail(job, "binding the device");
	return 0;
}

/*
 * The device in the view is the kernel's own node. When the instance ends, the kernel takes the
 * owner's rights away from that one; a node made here would keep them, for the instance that gets
 * the number next.
 */
static int enter(const struct ms_job *job)
{
	char path[64];
	int node, result;

	/* lwkexec explains a missing device: it knows more of the LWK. */
	if (strncmp(job->device, LWK_DEVICE_DIR "/", strlen(LWK_DEVICE_DIR "/")) ||
	    access(job->device, F_OK) < 0)
		return 0;
	if (unshare(CLONE_NEWNS) < 0)
		return fail(job, "unshare");
	/* Later mounts on the node, such as an automounter's, still arrive. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fail(job, "making mounts private");
	/* Only a file of the new namespace can be bound there. */
	node = open(job->device, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (node < 0)
		return fail(job, "opening the device");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", node);
	result = cover(job, path);
	close(node);
	return result;
}

int view_enter(uint32_t job_id)
{
	struct ms_job job;
	struct ms_error err;
	int ret = 0;
	int found = ms_job_get(job_id, &job, &err);

	/* The SPANK plugin, which comes next, refuses the task and tells the user why. */
	if (found <= 0) {
		if (found < 0)
			slurm_error("lwk: job %u: %s", job_id, err.text);
		return 0;
	}
	if (job.state == MS_JOB_ACTIVE)
		ret = enter(&job);
	ms_job_release(&job);
	return ret;
}
