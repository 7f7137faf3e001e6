// SPDX-License-Identifier: GPL-2.0-or-later
#include "command/mpi_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <json-c/json.h>
#include <slurm/spank.h>

#include "base/child.h"
#include "base/clock.h"
#include "command/command_option.h"

#define PLACE_MS 120000
#define ANSWER_BYTES (8 << 20)

static int list = -1; /* the list of nodes, a file in memory that srun reads by its path */

/* Writes a line for each rank, and closes the file. */
static int write_nodes(FILE *out, const struct json_object *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s\n", json_object_get_string(json_object_array_get_idx(nodes, i)));
	return fclose(out);
}

/* Writes the node of each rank, and what the program needs to know if it is the profile's. */
static int write_list(const char *answer, struct ms_error *err)
{
	struct json_object *placement = json_tokener_parse(answer), *nodes = NULL, *hash = NULL;
	char text[64];
	size_t n = 0;
	FILE *out;

	json_object_object_get_ex(placement, "node", &nodes);
	json_object_object_get_ex(placement, "program_hash", &hash);
	if (json_object_is_type(nodes, json_type_array))
		n = json_object_array_length(nodes);
	list = n ? memfd_create("hosts", MFD_CLOEXEC) : -1;
	out = list < 0 ? NULL : fdopen(dup(list), "w");
	if (!out || write_nodes(out, nodes, n) < 0) {
		json_object_put(placement);
		return ms_fail(err, "expected a node for each rank from lwkctl, found none");
	}
	snprintf(text, sizeof(text), "/proc/self/fd/%d", list);
	setenv("SLURM_HOSTFILE", text, 1);
	snprintf(text, sizeof(text), "%zu:%s", n,
		 json_object_get_string_len(hash) ? json_object_get_string(hash) : "0");
	setenv("LWK_MPI_PLACED", text, 1);
	json_object_put(placement);
	return 0;
}

int mpi_place_choose(const char *profile, struct ms_error *err)
{
	const char *nodes = getenv("SLURM_JOB_NODELIST"), *slots = getenv("SLURM_TASKS_PER_NODE");
	const char *const argv[] = { LWKCTL_PATH, "mpi", "place", "--json", "--nodes", nodes,
				     "--slots",	  slots, "--",	  profile,  NULL };
	char *answer;
	int status;

	if (!getenv("SLURM_JOB_ID") || !nodes || !slots)
		return ms_fail(err, "expected the nodes of an allocation, found none; give the "
				    "option to srun inside sbatch or salloc, with -n there");
	answer = malloc(ANSWER_BYTES);
	status = answer ? child_run(argv, clock_ms() + PLACE_MS, answer, ANSWER_BYTES) : -1;
	if (status == 0 && write_list(answer, err) < 0)
		status = -1;
	else if (status < 0)
		ms_fail(err, "expected lwkctl to choose the nodes, found that it cannot run");
	else if (status)
		ms_fail(err, "%s", answer);
	free(answer);
	return status ? -1 : 0;
}

int mpi_place_check(void)
{
	const char *distribution = command_option("distribution");

	if (list < 0)
		return 0;
	/* srun may read the list once more, and the tasks have no such file. */
	unsetenv("SLURM_HOSTFILE");
	/* srun takes the list, and this distribution with it, unless it has other nodes. */
	if (!command_option("nodelist") || (distribution && strstr(distribution, "arbitrary")))
		return 0;
	slurm_error("lwk: --mpi-place chooses the ranks' nodes, and so does --nodelist (or -w); "
		    "leave one of them out");
	return -1;
}
