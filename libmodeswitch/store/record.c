// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "modeswitch/config.h"
#include "modeswitch/limits.h"
#include "store/journal.h"
#include "store/state.h"
#include "store/times.h"

static const char *const state_words[] = {
	[MS_JOB_SWITCHING] = "switching",
	[MS_JOB_ACTIVE] = "active",
	[MS_JOB_REFUSED] = "refused",
	[MS_JOB_STUCK] = "stuck",
	[MS_JOB_WARM] = "warm",
	[MS_JOB_QUIET] = "quiet",
	[MS_JOB_UNREADABLE] = "unreadable",
};

const char *ms_job_state_word(enum ms_job_state state)
{
	return state_words[state];
}

static struct json_object *limits_to_json(const struct ms_limits *limits)
{
	struct json_object *object = json_object_new_object();

	json_add_flag(object, "required", limits->required);
	json_add_list(object, "cpus", limits->cpus);
	json_add_list(object, "nodes", limits->nodes);
	json_add_number(object, "memory", limits->memory);
	json_add_number(object, "memory_max", limits->memory_max);
	json_add_number(object, "pids", limits->pids);
	json_add_number(object, "cpu_percent", limits->cpu_percent);
	json_add_number(object, "weight_percent", limits->weight_percent);
	return object;
}

static struct json_object *spread_to_json(const struct ms_irq_spread *spread)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "min", json_object_new_double(spread->min));
	json_object_object_add(object, "max", json_object_new_double(spread->max));
	json_object_object_add(object, "mean", json_object_new_double(spread->mean));
	return object;
}

struct json_object *ms_job_to_json(const struct ms_job *job)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_add_number(object, "job_id", job->job_id);
	json_add_number(object, "uid", job->uid);
	json_add_text(object, "state", state_words[job->state]);
	json_add_text(object, "image", job->image);
	json_add_text(object, "driver", job->driver);
	json_add_text(object, "reason", job->reason);
	json_add_number(object, "instance", job->instance);
	json_add_text(object, "device", job->device);
	json_add_text(object, "launcher", job->launcher);
	json_add_list(object, "lwk_cpus", job->lwk_cpus);
	json_add_list(object, "linux_cpus", job->linux_cpus);
	json_add_list(object, "nodes", job->nodes);
	json_add_number(object, "memory", job->memory);
	json_add_number(object, "runs", job->runs);
	json_add_number(object, "largest_run", job->largest_run);
	json_add_number(object, "vacated", job->vacated);
	json_add_number(object, "switch_on_ms", job->switch_on_ms);
	json_object_object_add(object, "steps", times_to_json(&job->times));
	json_add_number(object, "keep_warm", job->keep_warm);
	json_add_flag(object, "memory_is_own", job->memory_is_own);
	json_object_object_add(object, "irqs_before", spread_to_json(&job->irqs_before));
	json_object_object_add(object, "proxies", limits_to_json(&job->proxies));
	json_add_number(object, "since", job->since);
	json_add_number(object, "since_boot", job->since_boot);
	return object;
}

void record_stamp(struct ms_job *job)
{
	job->since = time(NULL);
	job->since_boot = clock_ms() / 1000;
}

int64_t ms_job_age(const struct ms_job *job)
{
	/* A record that an earlier version wrote has only the time that somebody may set. */
	return job->since_boot ? clock_ms() / 1000 - job->since_boot : time(NULL) - job->since;
}

int record_publish(const struct ms_job *job, struct ms_error *err)
{
	struct json_object *object = ms_job_to_json(job);
	char name[32];
	int ret;

	if (!object)
		return ms_fail(err, "out of memory");
	snprintf(name, sizeof(name), "%u.json", job->job_id);
	ret = state_replace_file(
		name,
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE),
		0644, err);
	json_object_put(object);
	return ret;
}

int record_remove(uint32_t job_id, struct ms_error *err)
{
	int dir = state_open_jobs(err), ret = 0;
	char name[32];

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%u.json", job_id);
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		ret = ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	snprintf(name, sizeof(name), "%u.mpi", job_id);
	unlinkat(dir, name, 0);
	/* A prolog that waits still does not switch the job then. */
	snprintf(name, sizeof(name), "%u.begun", job_id);
	unlinkat(dir, name, 0);
	/* A process that was killed while it published left this. */
	snprintf(name, sizeof(name), "%u.json.new", job_id);
	unlinkat(dir, name, 0);
	close(dir);
	return ret;
}

static hwloc_bitmap_t read_list(struct json_object *object, const char *key)
{
	hwloc_bitmap_t list = hwloc_bitmap_alloc();
	struct ms_error ignored;

	if (list && ms_parse_cpus(journal_text(object, key), list, &ignored) < 0)
		hwloc_bitmap_zero(list);
	return list;
}

/* A record that an earlier version wrote has no limits. */
static void limits_from_json(struct json_object *object, struct ms_limits *limits)
{
	limits->required = json_object_get_boolean(json_object_object_get(object, "required"));
	limits->cpus = read_list(object, "cpus");
	limits->nodes = read_list(object, "nodes");
	limits->memory = journal_number(object, "memory");
	limits->memory_max = journal_number(object, "memory_max");
	limits->pids = journal_number(object, "pids");
	limits->cpu_percent = journal_number(object, "cpu_percent");
	limits->weight_percent = journal_number(object, "weight_percent");
}

static void spread_from_json(struct json_object *object, struct ms_irq_spread *spread)
{
	spread->min = json_object_get_double(json_object_object_get(object, "min"));
	spread->max = json_object_get_double(json_object_object_get(object, "max"));
	spread->mean = json_object_get_double(json_object_object_get(object, "mean"));
}

#define READ_TEXT(field)                                                                           \
	snprintf(job->field, sizeof(job->field), "%s", journal_text(object, #field))

static int from_json(struct json_object *object, uint32_t job_id, struct ms_job *job)
{
	const char *state = journal_text(object, "state");
	size_t word = 0;

	while (word < MS_JOB_UNREADABLE && strcmp(state_words[word], state) != 0)
		word++;
	if (word == MS_JOB_UNREADABLE || journal_number(object, "job_id") != job_id)
		return -1;
	memset(job, 0, sizeof(*job));
	job->job_id = job_id;
	job->uid = journal_number(object, "uid");
	job->state = word;
	READ_TEXT(image);
	READ_TEXT(driver);
	READ_TEXT(reason);
	READ_TEXT(device);
	READ_TEXT(launcher);
	job->instance = job->state == MS_JOB_ACTIVE ? (int)journal_number(object, "instance")
						    : MS_NO_INSTANCE;
	job->lwk_cpus = read_list(object, "lwk_cpus");
	job->linux_cpus = read_list(object, "linux_cpus");
	job->nodes = read_list(object, "nodes");
	job->memory = journal_number(object, "memory");
	job->runs = journal_number(object, "runs");
	job->largest_run = journal_number(object, "largest_run");
	job->vacated = journal_number(object, "vacated");
	job->switch_on_ms = journal_number(object, "switch_on_ms");
	times_from_json(json_object_object_get(object, "steps"), &job->times);
	job->keep_warm = journal_number(object, "keep_warm");
	job->memory_is_own =
		json_object_get_boolean(json_object_object_get(object, "memory_is_own"));
	spread_from_json(json_object_object_get(object, "irqs_before"), &job->irqs_before);
	limits_from_json(json_object_object_get(object, "proxies"), &job->proxies);
	job->since = journal_number(object, "since");
	job->since_boot = journal_number(object, "since_boot");
	return 0;
}

int ms_job_get(uint32_t job_id, struct ms_job *job, struct ms_error *err)
{
	int dir = state_open_jobs_readonly(), fd;
	struct json_object *object;
	char name[32];
	int ret;

	snprintf(name, sizeof(name), "%u.json", job_id);
	fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		ret = errno == ENOENT ? 0 : ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
		if (dir >= 0)
			close(dir);
		return ret;
	}
	close(dir);
	object = json_object_from_fd(fd);
	close(fd);
	if (object && json_object_is_type(object, json_type_object) &&
	    from_json(object, job_id, job) == 0)
		ret = 1;
	else
		ret = ms_fail(err, "%s/jobs/%s: expected a job's record, found something else",
			      state_dir, name);
	json_object_put(object);
	return ret;
}

int record_find(uint32_t job_id, struct ms_job *job, struct ms_error *err)
{
	int ret = ms_job_get(job_id, job, err);

	if (ret)
		return ret < 0 ? -1 : 0;
	return ms_fail(err, "this node knows no LWK job %u; 'lwkctl list' shows those it has",
		       job_id);
}

void ms_job_release(struct ms_job *job)
{
	hwloc_bitmap_free(job->lwk_cpus);
	hwloc_bitmap_free(job->linux_cpus);
	hwloc_bitmap_free(job->nodes);
	hwloc_bitmap_free(job->proxies.cpus);
	hwloc_bitmap_free(job->proxies.nodes);
	job->lwk_cpus = job->linux_cpus = job->nodes = NULL;
	job->proxies.cpus = job->proxies.nodes = NULL;
}

/* Nothing but the time of its last change is known of such a record. */
static void make_unreadable(uint32_t job_id, const char *reason, struct ms_job *job)
{
	char path[PATH_MAX];
	struct stat st = { 0 };

	snprintf(path, sizeof(path), "%s/jobs/%u.json", state_dir, job_id);
	lstat(path, &st);
	memset(job, 0, sizeof(*job));
	job->job_id = job_id;
	job->state = MS_JOB_UNREADABLE;
	job->instance = MS_NO_INSTANCE;
	job->since = st.st_mtime;
	snprintf(job->reason, sizeof(job->reason), "%s", reason);
	job->lwk_cpus = hwloc_bitmap_alloc();
	job->linux_cpus = hwloc_bitmap_alloc();
	job->nodes = hwloc_bitmap_alloc();
	job->proxies.cpus = hwloc_bitmap_alloc();
	job->proxies.nodes = hwloc_bitmap_alloc();
}

int ms_job_list(struct ms_job **out, size_t *n, struct ms_error *err)
{
	uint32_t *ids;
	ssize_t count = state_jobs(".json", &ids, err);
	struct ms_error why;
	struct ms_job *jobs;

	*n = 0;
	if (count < 0)
		return -1;
	jobs = calloc(count + 1, sizeof(*jobs));
	for (ssize_t i = 0; jobs && i < count; i++) {
		int got = ms_job_get(ids[i], &jobs[*n], &why);

		if (got < 0)
			make_unreadable(ids[i], why.text, &jobs[*n]);
		*n += got != 0; /* 0: the job has ended since */
	}
	free(ids);
	if (!jobs)
		return ms_fail(err, "out of memory");
	*out = jobs;
	return 0;
}

void ms_job_list_free(struct ms_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ms_job_release(&jobs[i]);
	free(jobs);
}
