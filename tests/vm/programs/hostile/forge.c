/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A SPANK plugin of a user's own, which a slurm.conf of the user's puts in the place of the
 * project's: hands each variable FORGE_NAME=VALUE of sbatch, srun or salloc to the job's prolog as
 * NAME=VALUE.
 */
#include <slurm/spank.h>
#include <string.h>

SPANK_PLUGIN(forge, 1)

extern char **environ;

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	static const char prefix[] = "FORGE_";
	char name[128];

	(void)ac;
	(void)av;
	for (char **variable = environ; *variable; variable++) {
		const char *start = *variable + strlen(prefix), *equal = strchr(*variable, '=');

		if (strncmp(*variable, prefix, strlen(prefix)) ||
		    equal - start >= (long)sizeof(name))
			continue;
		memcpy(name, start, equal - start);
		name[equal - start] = '\0';
		if (spank_job_control_setenv(sp, name, equal + 1, 1) != ESPANK_SUCCESS)
			return -1;
	}
	return 0;
}
