// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpirun.h"

#include <stdlib.h>
#include <string.h>

/* Slurm sets this in every job since 23.11, over what the user has set. */
static const char slurms_args[] = "--external-launcher";

/*
 * OMPI_MCA_ is for Open MPI 4, PRTE_MCA_ for the launcher of Open MPI 5. A setting takes the place
 * of the value instead_of, or else that of no value.
 */
static const struct {
	const char *variable, *value, *instead_of;
} settings[] = {
	/* The command that starts a rank. */
	{ "OMPI_MCA_orte_fork_agent", LWKEXEC_PATH, NULL },
	{ "PRTE_MCA_prte_fork_agent", LWKEXEC_PATH, NULL },
	/* The daemons that start ranks run on Linux. */
	{ "OMPI_MCA_plm_slurm_args", "--lwk-launch=none", NULL },
	{ "OMPI_MCA_plm_slurm_args", "--external-launcher --lwk-launch=none", slurms_args },
	{ "PRTE_MCA_plm_slurm_args", "--lwk-launch=none", NULL },
	{ "PRTE_MCA_plm_slurm_args", "--external-launcher --lwk-launch=none", slurms_args },
	/* A rank gets its LWK CPU from the LWK; Linux has only the assistant CPU here. */
	{ "OMPI_MCA_hwloc_base_binding_policy", "none", NULL },
	{ "PRTE_MCA_hwloc_default_binding_policy", "none", NULL },
};

#define N_SETTINGS (sizeof(settings) / sizeof(*settings))

void mpirun_prepare(spank_t sp, bool on_linux)
{
	char value[256];

	for (size_t i = 0; i < N_SETTINGS; i++) {
		const char *variable = settings[i].variable, *ours = settings[i].value;
		const char *from = on_linux ? settings[i].instead_of : ours;
		bool found = from &&
			     spank_getenv(sp, variable, value, sizeof(value)) == ESPANK_SUCCESS &&
			     strcmp(value, from) == 0;

		if (found && !on_linux)
			spank_unsetenv(sp, variable);
		else if (on_linux && (found || !from))
			spank_setenv(sp, variable, ours, found);
	}
}

void mpirun_forget(void)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const char *value = getenv(settings[i].variable);

		if (value && strcmp(value, settings[i].value) == 0)
			unsetenv(settings[i].variable);
	}
}
