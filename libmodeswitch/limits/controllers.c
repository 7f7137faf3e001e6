// SPDX-License-Identifier: GPL-2.0-or-later
#include "limits/controllers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "limits/libcgroup.h"
#include "modeswitch/config.h"

#define CONTROLLERS CGROUP2_MOUNT "/cgroup.controllers"

const char *const controllers[LIMITS_MAX_GROUPS] = { "cpuset", "cpu", "memory", "pids" };

char *controller_mount(const char *controller)
{
	struct hierarchy found;

	if (!libcgroup_is_there() || hierarchy_find(controller, &found) < 0 || found.version_2)
		return NULL;
	return strdup(found.mount);
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

void limits_find_missing(char *missing, size_t size)
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

bool limits_want_libcgroup(void)
{
	return !cgroup2_is_used() && !libcgroup_is_there();
}

int controllers_check(const struct ms_limits *limits, struct ms_error *err)
{
	char missing[64];

	limits_find_missing(missing, sizeof(missing));
	if (!*missing || !limits->required)
		return 0;
	if (limits_want_libcgroup())
		return ms_fail(err,
			       "ProxyLimits=require in %s wants limits for proxies; this node has "
			       "cgroup version 1, and slurm-lwk is built without libcgroup. The "
			       "administrator's remedy is cgroup version 2, or a build with "
			       "libcgroup; or ProxyLimits=available, with which LWK jobs do "
			       "without such limits",
			       MS_CONFIG_PATH);
	return ms_fail(err,
		       "ProxyLimits=require in %s wants the cgroup controllers cpuset, cpu, memory "
		       "and pids; this node lacks %s. The administrator's remedy is to let the "
		       "kernel have them (version 2: no cgroup_disable=), or to mount them (cgroup "
		       "version 1); or ProxyLimits=available, with which LWK jobs do without such "
		       "limits",
		       MS_CONFIG_PATH, missing);
}
