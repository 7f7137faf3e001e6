// SPDX-License-Identifier: GPL-2.0-or-later
#include "request.h"

#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeswitch/config.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
#error "this Slurm has no slurm_sprint_job_info(): the job's memory must be found otherwise"
#endif

/*
 * slurmstepd translates Slurm's core numbers into Linux's CPU numbers by the map that slurmd made
 * when it started. No other translation is right while CPUs are off-line, because the topology that
 * can be read then has holes.
 */
int xcpuinfo_abs_to_mac(char *cores, char **cpus) __attribute__((weak));

/* Finds the job: array jobs and heterogeneous jobs answer with several records. */
static slurm_job_info_t *find_job(job_info_msg_t *message, uint32_t job_id)
{
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (message->job_array[i].job_id == job_id)
			return &message->job_array[i];
	}
	return NULL;
}

static int read_cpus(slurm_job_info_t *job, const char *node, hwloc_bitmap_t cpus,
		     struct ms_error *err)
{
	char cores[8192];
	char *list = NULL;

	/* The list has cores, not CPUs, as long as nothing has made libslurm load the nodes. */
	if (slurm_job_cpus_allocated_str_on_node(cores, sizeof(cores), job->job_resrcs, node) != 0)
		return ms_fail(err, "Slurm lists no CPUs of job %u on node %s", job->job_id, node);
	if (!xcpuinfo_abs_to_mac)
		return ms_fail(err, "this Slurm's slurmstepd does not export "
				    "xcpuinfo_abs_to_mac(), which tells where its cores are");
	if (xcpuinfo_abs_to_mac(cores, &list) != 0 || !list)
		return ms_fail(err, "Slurm cannot say which CPUs its cores %s are", cores);
	if (hwloc_bitmap_list_sscanf(cpus, list) < 0 || hwloc_bitmap_iszero(cpus))
		return ms_fail(err, "Slurm's cores %s give no CPU list: \"%s\"", cores, list);
	return 0;
}

/* Finds "Mem=" of this node in text such as " Nodes=n[1-2] CPU_IDs=0-3 Mem=100 GRES=". */
static int parse_memory(const char *text, const char *node, uint64_t *megabytes)
{
	static const char head[] = " Nodes=";

	for (const char *group = strstr(text, head); group; group = strstr(group, head)) {
		group += strlen(head);
		char *names = strndup(group, strcspn(group, " \n"));
		hostlist_t list = slurm_hostlist_create(names);
		bool here = list && slurm_hostlist_find(list, node) >= 0;
		const char *memory = strstr(group, " Mem=");

		slurm_hostlist_destroy(list);
		free(names);
		if (here)
			return memory && sscanf(memory, " Mem=%" SCNu64, megabytes) == 1 ? 0 : -1;
	}
	return -1;
}

static int read_memory(slurm_job_info_t *job, const char *node, uint64_t *bytes,
		       struct ms_error *err)
{
	uint64_t megabytes = 0;
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
	char *text = slurm_sprint_job_info(&resources, 1);

	if (!text || parse_memory(text, node, &megabytes) < 0)
		return ms_fail(err, "Slurm does not tell the memory of job %u on node %s",
			       job->job_id, node);
	if (!megabytes)
		return ms_fail(err, "Slurm allocates no memory to jobs here, so there is none to "
				    "give to an LWK; the administrator's remedy is "
				    "SelectTypeParameters=CR_Core_Memory in slurm.conf");
	*bytes = megabytes << 20;
	return 0;
}

static int read_job(slurm_job_info_t *job, struct ms_request *request, bool with_memory,
		    struct ms_error *err)
{
	/* slurmd sets this variable after those that come from the user. */
	const char *node = getenv("SLURMD_NODENAME");

	if (!node)
		return ms_fail(err, "slurmd does not tell this node's name (SLURMD_NODENAME)");
	if (job->user_id != request->uid)
		return ms_fail(err, "Slurm says job %u belongs to user %u, not %u", job->job_id,
			       job->user_id, request->uid);
	if (read_cpus(job, node, request->cpus, err) < 0)
		return -1;
	request->whole_memory = job->pn_min_memory == 0;
	/* --hint=nomultithread sets this in the job's record. */
	request->one_per_core = job->threads_per_core == 1;
	return with_memory ? read_memory(job, node, &request->memory, err) : 0;
}

static int ask_slurm(struct ms_request *request, bool with_memory, struct ms_error *err)
{
	job_info_msg_t *message;
	slurm_job_info_t *job;
	int ret;

	if (slurm_load_job(&message, request->job_id, SHOW_DETAIL) != 0)
		return ms_fail(err, "slurmctld does not tell what job %u was allocated: %s",
			       request->job_id, slurm_strerror(slurm_get_errno()));
	job = find_job(message, request->job_id);
	if (job)
		ret = read_job(job, request, with_memory, err);
	else
		ret = ms_fail(err, "slurmctld knows no job %u", request->job_id);
	slurm_free_job_info_msg(message);
	return ret;
}

static int read_asked(const struct asked *asked, struct ms_request *request, struct ms_error *err)
{
	struct ms_error why;

	if (*asked->image && !ms_image_name_valid(asked->image))
		return ms_fail(err,
			       "--lwk: expected the name of an LWK image (a letter or digit, then "
			       "letters, digits, '.', '_' or '-', at most %d characters in all), "
			       "found something else; leave the name out for the site's default "
			       "image",
			       MS_IMAGE_NAME_MAX);
	snprintf(request->image, sizeof(request->image), "%s", asked->image);
	if (asked->memory && ms_parse_amount(asked->memory, &request->lwk_memory, &why) < 0)
		return ms_fail(err, "--lwk-mem: %s", why.text);
	if (asked->numa && ms_parse_numa(asked->numa, &request->numa, &why) < 0)
		return ms_fail(err, "--lwk-numa (or --mem-bind): %s", why.text);
	if (asked->proxy_memory &&
	    ms_parse_proxy_memory(asked->proxy_memory, &request->proxy_memory, &why) < 0)
		return ms_fail(err, "--lwk-proxy-mem: %s", why.text);
	return 0;
}

int request_build(uint32_t job_id, uid_t uid, const struct asked *asked, struct ms_request *request,
		  struct ms_error *err)
{
	memset(request, 0, sizeof(*request));
	request->job_id = job_id;
	request->uid = uid;
	request->cpus = hwloc_bitmap_alloc();
	if (!request->cpus)
		return ms_fail(err, "out of memory");
	if (read_asked(asked, request, err) == 0 && ask_slurm(request, true, err) == 0)
		return 0;
	request_release(request);
	return -1;
}

void request_release(struct ms_request *request)
{
	hwloc_bitmap_free(request->cpus);
	request->cpus = NULL;
	ms_numa_release(&request->numa);
}

int request_cpus(uint32_t job_id, uid_t uid, hwloc_bitmap_t cpus, struct ms_error *err)
{
	struct ms_request request = { .job_id = job_id, .uid = uid, .cpus = cpus };

	return ask_slurm(&request, false, err);
}
