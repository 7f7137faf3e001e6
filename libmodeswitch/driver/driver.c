// SPDX-License-Identifier: GPL-2.0-or-later
#include "driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "modeswitch/job.h"

static const struct driver *const drivers[] = { &driver_lwkpart, &driver_ihk, NULL };

const struct driver *driver_number(size_t i)
{
	return i < sizeof(drivers) / sizeof(*drivers) ? drivers[i] : NULL;
}

const struct driver *driver_find(const char *name)
{
	for (size_t i = 0; drivers[i]; i++) {
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	}
	return NULL;
}

void driver_names(char *text, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; drivers[i] && at < size; i++)
		at += snprintf(text + at, size - at, "%s%s", at ? ", " : "", drivers[i]->name);
}

int driver_open_any(const struct driver *driver, struct ms_error *err)
{
	return driver->open_any ? driver->open_any(err) : driver->open(err);
}

int driver_instance_of_job(const struct driver *driver, int dev, uint32_t job_id)
{
	struct instance_info info;

	for (unsigned i = 0; i < driver->max_instances; i++) {
		if (driver->info(dev, i, &info) == 0 && info.job_id == job_id)
			return i;
	}
	return MS_NO_INSTANCE;
}

void driver_console_tail(const struct driver *driver, int dev, unsigned instance, char *text,
			 size_t size)
{
	uint64_t position = 0;
	size_t length = 0;
	char chunk[512];
	ssize_t got;

	while ((got = driver->kmsg(dev, instance, &position, chunk, sizeof(chunk))) > 0) {
		size_t keep = length, n = got;

		if (n > size - 1)
			n = size - 1;
		if (keep + n > size - 1)
			keep = size - 1 - n;
		memmove(text, text + length - keep, keep);
		memcpy(text + keep, chunk + got - n, n);
		length = keep + n;
	}
	text[length] = '\0';
}
