// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The entry points of the namespace plugin, which Slurm before 25.11 calls the job_container
 * plugin. slurmd and slurmstepd look them up by their names.
 */
#include <stdint.h>

#include "compat/namespace_compat.h"
#include "os_cores.h"
#include "restore.h"
#include "view.h"

extern const char plugin_name[];
extern const char plugin_type[];
extern const uint32_t plugin_version;

const char plugin_name[] = COMPAT_PLUGIN_KIND " plugin for light-weight kernels";
const char plugin_type[] = COMPAT_PLUGIN_KIND "/lwk";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int namespace_p_join(slurm_step_id_t *step_id, uid_t uid, bool step_create)
{
	/*
	 * Job 0 is no job. Prolog and epilog scripts, which run as root, and slurmstepd, which
	 * slurmd is about to start with step_create, look after the node and must see all devices.
	 * For each task of slurmstepd Slurm calls this function again.
	 */
	if (step_create || !step_id->job_id || !uid)
		return SLURM_SUCCESS;
	if (os_cores_enter(step_id->job_id) < 0 || view_enter(step_id->job_id) < 0)
		return SLURM_ERROR;
	return SLURM_SUCCESS;
}

int namespace_p_restore(char *directory, bool recover)
{
	restore(directory);
	return SLURM_SUCCESS;
}
