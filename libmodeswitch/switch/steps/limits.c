// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the cgroups that limit the job's proxies, and has the driver put the proxies into them.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "limits/limits.h"
#include "switch/steps/table.h"

static int make(struct switching *switching, struct ms_error *err)
{
	return limits_make(switching->job_id, &switching->plan->proxies, err);
}

static int remove_groups(struct switching *switching, struct json_object *entry,
			 struct ms_error *err)
{
	return limits_remove(switching->job_id, err);
}

static int confine(struct switching *switching, struct ms_error *err)
{
	const struct driver *driver = switching->driver;
	int fds[LIMITS_MAX_GROUPS], error = 0;
	int n = limits_open(switching->job_id, &switching->plan->proxies, fds, err);

	/* The plugin moves the tasks of a driver that cannot. */
	if (n > 0 && driver->confine)
		error = driver->confine(switching->dev, switching->instance, fds, n);
	for (int i = 0; i < n; i++)
		close(fds[i]);
	if (error)
		return ms_fail(err, "the proxies of LWK instance %d cannot be limited: %s",
			       switching->instance, strerror(-error));
	return n < 0 ? -1 : 0;
}

const struct step step_limits = { .name = "limits", .run = make, .undo = remove_groups };
const struct step step_confine = { .name = "confine", .run = confine };
