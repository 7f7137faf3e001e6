// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/step.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"

int switching_may_go_on(const struct switching *switching, struct ms_error *err)
{
	if (signal_is_pending())
		return ms_fail(err, "the switch was cancelled by a signal; submit the job again");
	if (clock_ms() >= switching->deadline)
		return ms_fail(err,
			       "the switch took longer than SwitchTimeout=%u (seconds); submit the "
			       "job again, or have the administrator raise it in %s",
			       switching->config->switch_timeout_ms / 1000, MS_CONFIG_PATH);
	return 0;
}

void switching_say(const struct switching *switching, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!switching->say)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	switching->say(line, switching->say_context);
}

enum owner switching_owner(const struct switching *switching, const struct ms_lent *lent)
{
	struct instance_info info;

	if (lent->instance == MS_NO_INSTANCE)
		return OWNER_NOBODY;
	if (switching->driver->info(switching->dev, lent->instance, &info) < 0 ||
	    info.job_id == switching->job_id)
		return OWNER_THIS_JOB;
	return OWNER_OTHER_JOB;
}

int switching_ledger(const struct switching *switching, struct ms_lent **lent, size_t *n,
		     struct ms_error *err)
{
	int error;

	*lent = NULL;
	*n = 0;
	if (switching->dev < 0)
		return 0;
	error = switching->driver->ledger(switching->dev, lent, n);
	return error ? ms_fail(err, "the ledger cannot be read: %s", strerror(-error)) : 0;
}
