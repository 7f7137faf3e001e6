// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job_container plugin's entry points. slurmd and slurmstepd look them up by these names, which
 * only headers in Slurm's own source declare.
 */
#include <inttypes.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <stdbool.h>
#include <sys/types.h>

#include "os_cores.h"
#include "restore.h"
#include "view.h"

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(21, 8, 0) ||                                          \
	SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#error "the job_container plugin knows the interface of Slurm 21.08 and 22.05 only"
#endif

extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_version;

const char plugin_name[] = "job_container plugin for light-weight kernels";
const char plugin_type[] = "job_container/lwk";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int container_p_create(uint32_t job_id, uid_t uid);
int container_p_stepd_create(uint32_t job_id, uid_t uid);
int container_p_add_cont(uint32_t job_id, uint64_t cont_id);
int container_p_join(uint32_t job_id, uid_t uid);
int container_p_join_external(uint32_t job_id);
int container_p_stepd_delete(uint32_t job_id);
int container_p_delete(uint32_t job_id);
int container_p_restore(char *directory, bool recover);
void container_p_reconfig(void);

int container_p_create(uint32_t job_id, uid_t uid)
{
	return SLURM_SUCCESS;
}

int container_p_stepd_create(uint32_t job_id, uid_t uid)
{
	return SLURM_SUCCESS;
}

int container_p_add_cont(uint32_t job_id, uint64_t cont_id)
{
	return SLURM_SUCCESS;
}

int container_p_join(uint32_t job_id, uid_t uid)
{
	/*
	 * Job 0 is no job. Prolog and epilog scripts run as root: they look after the node, not the
	 * job, and see all devices.
	 */
	if (!job_id || !uid)
		return SLURM_SUCCESS;
	if (os_cores_enter(job_id) < 0 || view_enter(job_id) < 0)
		return SLURM_ERROR;
	return SLURM_SUCCESS;
}

/* There is no namespace to join, because each task has its own. 0 lets the next plugin answer. */
int container_p_join_external(uint32_t job_id)
{
	return 0;
}

int container_p_stepd_delete(uint32_t job_id)
{
	return SLURM_SUCCESS;
}

int container_p_delete(uint32_t job_id)
{
	return SLURM_SUCCESS;
}

int container_p_restore(char *directory, bool recover)
{
	restore(directory);
	return SLURM_SUCCESS;
}

void container_p_reconfig(void)
{
}
