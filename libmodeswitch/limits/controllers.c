// SPDX-License-Identifier: GPL-2.0-or-later
#include "limits/controllers.h"

#include <libcgroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "modeswitch/config.h"

#define CONTROLLERS CGROUP2_MOUNT "/cgroup.controllers"

const char *const controllers[LIMITS_MAX_GROUPS] = { "cpuset", "cpu", "memory", "pids" };

const char *cgroup_error_text(int error)
{
	return error == ECGOTHER ? strerror(cgroup_get_last_errno()) : cgroup_strerror(error);
}

char *controller_mount(const char *controller)
{
	char *path = NULL;

	return cgroup_get_subsys_mount_point(controller, &path) == 0 ? path : NULL;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; *words; words += strcspn(words, " "), words += strspn(words, " ")) {
		if (strncmp(words, word, length) == 0 &&
		    (words[length] == ' ' || words[length] == '\0'))
			return true;
	}
	return false;
}

static void list_missing(char *missing, size_t size)
{
	char available[1024] = "";
	bool version_2 = kernel_read(available, sizeof(available), CONTROLLERS) >= 0;
	size_t at = 0;

	*missing = '\0';
	for (size_t i = 0; i < LIMITS_MAX_GROUPS && at < size; i++) {
		char *mount = version_2 ? NULL : controller_mount(controllers[i]);
		bool there = version_2 ? has_word(available, controllers[i]) : mount != NULL;

		free(mount);
		if (!there)
			at += snprintf(missing + at, size - at, "%s%s", at ? ", " : "",
				       controllers[i]);
	}
}

int limits_find_missing(char *missing, size_t size, struct ms_error *err)
{
	int error = cgroup2_is_used() ? 0 : cgroup_init();

	if (error && error != ECGROUPNOTMOUNTED)
		return ms_fail(err, "libcgroup cannot be initialized: %s",
			       cgroup_error_text(error));
	list_missing(missing, size);
	return 0;
}

int controllers_check(const struct ms_limits *limits, struct ms_error *err)
{
	char missing[64];

	if (limits_find_missing(missing, sizeof(missing), err) < 0)
		return -1;
	if (!*missing || !limits->required)
		return 0;
	return ms_fail(err,
		       "ProxyLimits=require in %s wants the cgroup controllers cpuset, cpu, memory "
		       "and pids; this node lacks %s. The administrator's remedy is to mount them "
		       "(cgroup version 1), or to let the kernel have them (version 2: no "
		       "cgroup_disable=); or ProxyLimits=available, with which LWK jobs do "
		       "without such limits",
		       MS_CONFIG_PATH, missing);
}
