// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * switch-once does what Slurm's prolog and epilog do, without Slurm:
 *   switch-once on JOB UID CPUS MEMORY [IMAGE]
 *   switch-once announced JOB UID CPUS MEMORY [IMAGE]	announces the switch first, as only the prolog does
 *   switch-once off JOB	gives back all
 *   switch-once ended JOB	keeps the partition warm if lwk.conf says so
 * Prints the job's record with the duration of the whole call as call_us, and for "off" only the
 * duration. Exit status 0 as long as the node is sound.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "modeswitch/plan.h"

static int fail(const struct ms_error *err)
{
	fprintf(stderr, "switch-once: %s\n", err->text);
	return 1;
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int print_json(struct json_object *object, int64_t call_us)
{
	json_object_object_add(object, "call_us", json_object_new_int64(call_us));
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	return 0;
}

static int print_record(uint32_t job_id, int64_t call_us)
{
	struct json_object *object;
	struct ms_error err;
	struct ms_job job;
	int got = ms_job_get(job_id, &job, &err);

	if (got < 0)
		return fail(&err);
	if (got == 0) {
		puts("{}");
		return 0;
	}
	object = ms_job_to_json(&job);
	ms_job_release(&job);
	return print_json(object, call_us);
}

static int switch_on(int argc, char **argv)
{
	struct ms_request request = { .job_id = strtoul(argv[2], NULL, 10),
				      .uid = strtoul(argv[3], NULL, 10),
				      .cpus = hwloc_bitmap_alloc() };
	struct ms_config *config;
	struct ms_error err;
	int64_t start;
	int ret;

	snprintf(request.image, sizeof(request.image), "%s", argc > 6 ? argv[6] : "");
	if (ms_parse_cpus(argv[4], request.cpus, &err) < 0 ||
	    ms_parse_size(argv[5], &request.memory, &err) < 0 ||
	    ms_config_load(MS_CONFIG_PATH, &config, &err) < 0)
		return fail(&err);
	if (strcmp(argv[1], "announced") == 0 &&
	    ms_switch_announce(request.job_id, &request.announced, &err) < 0)
		return fail(&err);
	start = now_us();
	ret = ms_switch_on(config, &request, &err);
	ret = ret < 0 ? fail(&err) : print_record(request.job_id, now_us() - start);
	ms_config_free(config);
	hwloc_bitmap_free(request.cpus);
	return ret;
}

static int switch_off(uint32_t job_id,
		      int (*off)(uint32_t job_id, struct ms_times *times, struct ms_error *err))
{
	struct json_object *object = json_object_new_object(), *steps = json_object_new_array();
	int64_t start = now_us();
	struct ms_times times;
	struct ms_error err;

	if (off(job_id, &times, &err) < 0)
		return fail(&err);
	start = now_us() - start;
	for (size_t i = 0; i < times.n; i++) {
		struct json_object *part = json_object_new_object();

		json_object_object_add(part, "name", json_object_new_string(times.parts[i].name));
		json_object_object_add(part, "us", json_object_new_int64(times.parts[i].us));
		json_object_array_add(steps, part);
	}
	json_object_object_add(object, "steps", steps);
	return print_json(object, start);
}

/* Does what the prolog of a job without --lwk does. */
static int be_quiet(uint32_t job_id, uid_t uid, const char *list)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	struct ms_config *config;
	int64_t start = now_us();
	struct ms_error err;
	int ret;

	if (ms_parse_cpus(list, cpus, &err) < 0 ||
	    ms_config_load(MS_CONFIG_PATH, &config, &err) < 0)
		return fail(&err);
	ret = ms_quiet_begin(config, job_id, uid, cpus, &err);
	ret = ret < 0 ? fail(&err) : print_record(job_id, now_us() - start);
	ms_config_free(config);
	hwloc_bitmap_free(cpus);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "quiet") == 0)
		return be_quiet(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argv[4]);
	if (argc >= 6 && (strcmp(argv[1], "on") == 0 || strcmp(argv[1], "announced") == 0))
		return switch_on(argc, argv);
	if (argc == 3 && strcmp(argv[1], "off") == 0)
		return switch_off(strtoul(argv[2], NULL, 10), ms_switch_off);
	if (argc == 3 && strcmp(argv[1], "ended") == 0)
		return switch_off(strtoul(argv[2], NULL, 10), ms_job_ended);
	fputs("Usage: switch-once on|announced JOB UID CPUS MEMORY [IMAGE] | off JOB | ended JOB |\n"
	      "                   quiet JOB UID CPUS\n",
	      stderr);
	return 2;
}
