// SPDX-License-Identifier: GPL-2.0-or-later
#include "request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/slurm_compat.h"
#include "modeswitch/config.h"

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
		if (compat_job_id(&message->job_array[i]) == job_id)
			return &message->job_array[i];
	}
	return NULL;
}

static int read_cpus(char *cores, hwloc_bitmap_t cpus, struct ms_error *err)
{
	char *list = NULL;

	if (!xcpuinfo_abs_to_mac)
		return ms_fail(err, "expected xcpuinfo_abs_to_mac() in slurmstepd, which tells "
				    "where Slurm's cores are, found none; have the administrator "
				    "run 'lwkctl check'");
	if (xcpuinfo_abs_to_mac(cores, &list) != 0 || !list)
		return ms_fail(err,
			       "expected Slurm to tell the CPUs of its cores %s, found none; have "
			       "the administrator compare the node in slurm.conf with 'slurmd -C'",
			       cores);
	if (hwloc_bitmap_list_sscanf(cpus, list) < 0 || hwloc_bitmap_iszero(cpus))
		return ms_fail(err, "Slurm's cores %s give no CPU list: \"%s\"", cores, list);
	return 0;
}

static int read_allocation(slurm_job_info_t *job, const char *node, struct ms_request *request,
			   bool with_memory, struct ms_error *err)
{
	struct compat_allocation allocation;
	int ret;

	if (compat_find_allocation(job, node, &allocation, err) < 0)
		return -1;
	ret = read_cpus(allocation.cores, request->cpus, err);
	free(allocation.cores);
	if (ret == 0 && with_memory && !allocation.megabytes)
		return ms_fail(err, "Slurm allocates no memory to jobs here, so there is none to "
				    "give to an LWK; the administrator's remedy is "
				    "SelectTypeParameters=CR_Core_Memory in slurm.conf");
	request->memory = allocation.megabytes << 20;
	return ret;
}

static int read_job(slurm_job_info_t *job, struct ms_request *request, bool with_memory,
		    struct ms_error *err)
{
	/* slurmd sets this variable after those that come from the user. */
	const char *node = getenv("SLURMD_NODENAME");

	if (!node)
		return ms_fail(err, "expected this node's name from slurmd in SLURMD_NODENAME, "
				    "found none; have the administrator run 'lwkctl check'");
	if (job->user_id != request->uid)
		return ms_fail(err, "Slurm says job %u belongs to user %u, not %u", request->job_id,
			       job->user_id, request->uid);
	request->whole_memory = job->pn_min_memory == 0;
	/* --hint=nomultithread sets this in the job's record. */
	request->one_per_core = job->threads_per_core == 1;
	return read_allocation(job, node, request, with_memory, err);
}

static int ask_slurm(struct ms_request *request, bool with_memory, struct ms_error *err)
{
	job_info_msg_t *message;
	slurm_job_info_t *job;
	int ret;

	if (compat_load_job(&message, request->job_id, SHOW_DETAIL) != 0)
		return ms_fail(err, "slurmctld does not tell what job %u was allocated: %s",
			       request->job_id, slurm_strerror(errno));
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
