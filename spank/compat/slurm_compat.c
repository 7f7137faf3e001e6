// SPDX-License-Identifier: GPL-2.0-or-later
#include "compat/slurm_compat.h"

#include <inttypes.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
/* A failing slurm_spank_init() fails its job, and Slurm drains no node for it. */
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif

void compat_prepare_prolog(void)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
	/* slurmd and slurmstepd have done so, but slurmstepd has not when it runs a prolog. */
	slurm_init(NULL);
#endif
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)

static slurm_step_id_t id_of(uint32_t job_id)
{
	slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

	id.job_id = job_id;
	return id;
}

int compat_complete_job(uint32_t job_id, uint32_t status)
{
	slurm_step_id_t id = id_of(job_id);

	return slurm_complete_job(&id, status);
}

uint32_t compat_job_id(const slurm_job_info_t *job)
{
	return job->step_id.job_id;
}

void compat_describe_job(job_desc_msg_t *update, uint32_t job_id)
{
	slurm_init_job_desc_msg(update);
	update->step_id.job_id = job_id;
}

#else

int compat_complete_job(uint32_t job_id, uint32_t status)
{
	return slurm_complete_job(job_id, status);
}

uint32_t compat_job_id(const slurm_job_info_t *job)
{
	return job->job_id;
}

void compat_describe_job(job_desc_msg_t *update, uint32_t job_id)
{
	slurm_init_job_desc_msg(update);
	update->job_id = job_id;
}

#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)

int compat_load_job(job_info_msg_t **message, uint32_t job_id, uint16_t flags)
{
	return slurm_load_job(message, id_of(job_id), flags);
}

int compat_notify_job(uint32_t job_id, char *message)
{
	return slurm_notify_job(id_of(job_id), message);
}

/* slurmctld knows by itself who sends the update. */
void compat_sign_reason(update_node_msg_t *update)
{
	(void)update;
}

#else

int compat_load_job(job_info_msg_t **message, uint32_t job_id, uint16_t flags)
{
	return slurm_load_job(message, job_id, flags);
}

int compat_notify_job(uint32_t job_id, char *message)
{
	return slurm_notify_job(job_id, message);
}

void compat_sign_reason(update_node_msg_t *update)
{
	update->reason_uid = geteuid();
}

#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)

#include <hwloc.h>
#include <json-c/json.h>

#include "base/child.h"
#include "base/clock.h"

/*
 * libslurm has no function for a job's memory and cores on a node, so scontrol is asked, in JSON:
 * its other output has the user's texts, such as the job's name, where they can look like memory.
 */
#define SCONTROL_MS 60000
/* Each core of each node takes 50 to 200 bytes. Pages that nobody writes take no memory. */
#define ANSWER_MAX (64 << 20)

static char *ask_scontrol(uint32_t job_id, struct ms_error *err)
{
	/* slurmd sets this variable: a slurm.conf at an unusual place is found by nothing else. */
	const char *set = getenv("SLURM_CONF");
	char id[16], configuration[4096];
	const char *const argv[] = { "/usr/bin/env",
				     "SLURM_JSON=compact",
				     configuration,
				     SCONTROL_PATH,
				     "--json",
				     "--details",
				     "show",
				     "job",
				     id,
				     NULL };
	char *answer = malloc(ANSWER_MAX);
	int status;

	if (!answer) {
		ms_fail(err, "out of memory");
		return NULL;
	}
	snprintf(id, sizeof(id), "%u", job_id);
	snprintf(configuration, sizeof(configuration), "%s%s", set ? "SLURM_CONF=" : "LC_ALL=C",
		 set ? set : "");
	status = child_run(argv, clock_ms() + SCONTROL_MS, answer, ANSWER_MAX);
	if (status == 0)
		return answer;
	answer[strcspn(answer, "\n")] = '\0';
	ms_fail(err,
		"expected the job's JSON from '%s --json --details show job %u', found status %d "
		"(%.200s); see that it works on this node as root",
		SCONTROL_PATH, job_id, status, answer);
	free(answer);
	return NULL;
}

/* Finds a member of members, such as "memory/allocated"; NULL: there is none of that type. */
static struct json_object *member(struct json_object *object, const char *path, enum json_type type)
{
	char *names = strdup(path), *rest = names, *name;

	while (object && names && (name = strsep(&rest, "/"))) {
		if (!json_object_is_type(object, json_type_object) ||
		    !json_object_object_get_ex(object, name, &object))
			object = NULL;
	}
	free(names);
	return names && json_object_is_type(object, type) ? object : NULL;
}

static struct json_object *element(struct json_object *list, size_t at)
{
	return json_object_array_get_idx(list, at);
}

static struct json_object *find_job(struct json_object *answer, uint32_t job_id)
{
	struct json_object *jobs = member(answer, "jobs", json_type_array), *id;

	for (size_t i = 0; jobs && i < json_object_array_length(jobs); i++) {
		id = member(element(jobs, i), "job_id", json_type_int);
		if (id && json_object_get_int64(id) == job_id)
			return element(jobs, i);
	}
	return NULL;
}

static struct json_object *find_node(struct json_object *job, const char *node)
{
	struct json_object *nodes, *name;

	nodes = member(job, "job_resources/nodes/allocation", json_type_array);
	for (size_t i = 0; nodes && i < json_object_array_length(nodes); i++) {
		name = member(element(nodes, i), "name", json_type_string);
		if (name && !strcmp(json_object_get_string(name), node))
			return element(nodes, i);
	}
	return NULL;
}

static bool is_allocated(struct json_object *core)
{
	struct json_object *words = member(core, "status", json_type_array), *word;

	for (size_t i = 0; words && i < json_object_array_length(words); i++) {
		word = element(words, i);
		if (json_object_is_type(word, json_type_string) &&
		    !strcmp(json_object_get_string(word), "ALLOCATED"))
			return true;
	}
	return false;
}

/* Slurm counts the cores of all sockets on; each socket of a node has as many. */
static int read_cores(struct json_object *node, hwloc_bitmap_t list)
{
	struct json_object *sockets = member(node, "sockets", json_type_array), *cores;
	unsigned number = 0;

	for (size_t i = 0; sockets && i < json_object_array_length(sockets); i++) {
		cores = member(element(sockets, i), "cores", json_type_array);
		for (size_t j = 0; cores && j < json_object_array_length(cores); j++, number++) {
			if (is_allocated(element(cores, j)) && hwloc_bitmap_set(list, number) < 0)
				return -1;
		}
	}
	return hwloc_bitmap_iszero(list) ? -1 : 0;
}

static int read_node(struct json_object *node, struct compat_allocation *allocation)
{
	struct json_object *memory = member(node, "memory/allocated", json_type_int);
	hwloc_bitmap_t list = hwloc_bitmap_alloc();
	int ret = -1;

	if (list && memory && json_object_get_int64(memory) >= 0 && read_cores(node, list) == 0 &&
	    hwloc_bitmap_list_asprintf(&allocation->cores, list) >= 0) {
		allocation->megabytes = json_object_get_int64(memory);
		ret = 0;
	}
	hwloc_bitmap_free(list);
	return ret;
}

int compat_find_allocation(slurm_job_info_t *job, const char *node,
			   struct compat_allocation *allocation, struct ms_error *err)
{
	uint32_t job_id = compat_job_id(job);
	char *answer = ask_scontrol(job_id, err);
	struct json_object *all;
	const char *start;
	int ret;

	if (!answer)
		return -1;
	/* Warnings of scontrol may stand before its JSON. */
	start = strchr(answer, '{');
	all = start ? json_tokener_parse(start) : NULL;
	ret = read_node(find_node(find_job(all, job_id), node), allocation);
	if (ret < 0)
		ms_fail(err,
			"expected the cores and the memory of job %u on node %s in scontrol's "
			"JSON (job_resources/nodes/allocation), found none",
			job_id, node);
	json_object_put(all);
	free(answer);
	return ret;
}

#else

/* Finds "Mem=" of this node in text such as " Nodes=n[1-2] CPU_IDs=0-3 Mem=100 GRES=". */
static int parse_memory(const char *text, const char *node, uint64_t *megabytes)
{
	static const char head[] = " Nodes=";

	for (const char *group = strstr(text, head); group; group = strstr(group, head)) {
		group += strlen(head);
		char *names = strndup(group, strcspn(group, " \n"));
		__auto_type list = slurm_hostlist_create(names);
		bool here = list && slurm_hostlist_find(list, node) >= 0;
		const char *memory = strstr(group, " Mem=");

		slurm_hostlist_destroy(list);
		free(names);
		if (here)
			return memory && sscanf(memory, " Mem=%" SCNu64, megabytes) == 1 ? 0 : -1;
	}
	return -1;
}

int compat_find_allocation(slurm_job_info_t *job, const char *node,
			   struct compat_allocation *allocation, struct ms_error *err)
{
	/*
	 * Only the printed text of a job tells its memory per node. That text has the user's texts
	 * as well (job name, comment), which could look like the memory; so the printed job has
	 * nothing but resources.
	 */
	slurm_job_info_t resources = {
		.job_id = job->job_id,
		.job_resrcs = job->job_resrcs,
		.node_inx = job->node_inx,
	};
	char cores[8192];
	char *text;

	/*
	 * The list has cores as long as libslurm has not loaded the nodes. Printing a job loads
	 * them, and the list has CPUs from then on.
	 */
	if (slurm_job_cpus_allocated_str_on_node(cores, sizeof(cores), job->job_resrcs, node) != 0)
		return ms_fail(err,
			       "expected Slurm to list CPUs of job %u on node %s, found none; have "
			       "the administrator run 'lwkctl check'",
			       job->job_id, node);
	text = slurm_sprint_job_info(&resources, 1);
	if (!text || parse_memory(text, node, &allocation->megabytes) < 0)
		return ms_fail(err,
			       "expected Slurm to tell the memory of job %u on node %s, found "
			       "none; have the administrator run 'lwkctl check'",
			       job->job_id, node);
	allocation->cores = strdup(cores);
	return allocation->cores ? 0 : ms_fail(err, "out of memory");
}

#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)

bool compat_launches_multi_prog(void)
{
	return true;
}

int compat_launch_by(spank_t sp, char *launcher)
{
	/* A program's name may look like an option. */
	const char *front[] = { launcher, "--" };

	return spank_prepend_task_argv(sp, 2, front) == ESPANK_SUCCESS ? 0 : -1;
}

#else

/* Slurm reads the programs of srun --multi-prog from their file after all hooks. */
bool compat_launches_multi_prog(void)
{
	return false;
}

int compat_launch_by(spank_t sp, char *launcher)
{
	char **argv;
	int argc;

	if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1 ||
	    spank_setenv(sp, "LWK_ARGV0", argv[0], 1) != ESPANK_SUCCESS)
		return -1;
	argv[0] = launcher;
	return 0;
}

#endif
