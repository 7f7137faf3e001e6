// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include <errno.h>
#include <sched.h>
#include <slurm/spank.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
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

static int cover(const struct ms_job *job)
{
	struct stat node;

	/* lwkexec explains a missing device: it knows more of the LWK. */
	if (strncmp(job->device, LWK_DEVICE_DIR "/", strlen(LWK_DEVICE_DIR "/")) ||
	    stat(job->device, &node) < 0)
		return 0;
	if (unshare(CLONE_NEWNS) < 0)
		return fail(job, "unshare");
	/* Later mounts on the node, such as an automounter's, still arrive. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fail(job, "making mounts private");
	if (mount("lwk", LWK_DEVICE_DIR, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=4k") < 0)
		return fail(job, "mounting a tmpfs on " LWK_DEVICE_DIR);
	if (mknod(job->device, node.st_mode, node.st_rdev) < 0 ||
	    chown(job->device, node.st_uid, node.st_gid) < 0 ||
	    chmod(job->device, node.st_mode & 07777) < 0)
		return fail(job, "making the device node");
	return 0;
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
		ret = cover(&job);
	ms_job_release(&job);
	return ret;
}
