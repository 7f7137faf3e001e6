// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpirun.h"

#include <stdlib.h>
#include <string.h>

/* OMPI_MCA_ is for Open MPI 4, PRTE_MCA_ for the launcher of Open MPI 5. */
static const struct {
	const char *variable, *value;
} settings[] = {
	/* The command that starts a rank. */
	{ "OMPI_MCA_orte_fork_agent", LWKEXEC_PATH },
	{ "PRTE_MCA_prte_fork_agent", LWKEXEC_PATH },
	/* The daemons that start ranks, on Linux too. */
	{ "OMPI_MCA_plm_slurm_args", "--lwk-launch=none" },
	{ "PRTE_MCA_plm_slurm_args", "--lwk-launch=none" },
	/* A rank gets its LWK CPU from the LWK; Linux has only the assistant CPU here. */
	{ "OMPI_MCA_hwloc_base_binding_policy", "none" },
	{ "PRTE_MCA_hwloc_default_binding_policy", "none" },
};

#define N_SETTINGS (sizeof(settings) / sizeof(*settings))

void mpirun_prepare(spank_t sp, bool on_linux)
{
	char value[256];

	for (size_t i = 0; i < N_SETTINGS; i++) {
		if (on_linux)
			spank_setenv(sp, settings[i].variable, settings[i].value, 0);
		else if (spank_getenv(sp, settings[i].variable, value, sizeof(value)) ==
				 ESPANK_SUCCESS &&
			 strcmp(value, settings[i].value) == 0)
			spank_unsetenv(sp, settings[i].variable);
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
