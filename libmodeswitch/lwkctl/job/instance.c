// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/job/instance.h"

bool instance_read(uint32_t job_id, struct instance *instance, struct ms_error *err)
{
	struct ms_watch *watch;
	struct ms_usage usage;
	struct ms_error ignored;
	bool seen;

	if (ms_watch_open(job_id, &watch, err) < 0)
		return false;
	seen = ms_watch_info(watch, &instance->info, err) == 0;
	if (seen && ms_watch_usage(watch, &usage, &ignored) == 1) {
		instance->pmu = usage.pmu;
		ms_usage_release(&usage);
	}
	ms_watch_close(watch);
	return seen;
}

struct json_object *instance_to_json(const struct instance *instance)
{
	struct json_object *object = ms_job_to_json(instance->job);
	const struct ms_instance_info *info = &instance->info;

	json_object_object_add(object, "instance_state",
			       json_object_new_string(ms_instance_state_word(info->state)));
	json_object_object_add(object, "instance_since_ns",
			       info->since_ns ? json_object_new_int64(info->since_ns) : NULL);
	json_object_object_add(object, "message", json_object_new_string(info->message));
	json_object_object_add(object, "cpus", json_object_new_int64(info->cpus));
	json_object_object_add(
		object, "processes",
		info->processes == MS_UNKNOWN ? NULL : json_object_new_int64(info->processes));
	return object;
}
