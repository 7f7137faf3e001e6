// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the console of an LWK instance.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/found.h"
#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

#define MAX_TEXT (1UL << 20)

/* Reads the console of the driver's instance of that number. */
static enum found read_console(const struct driver *driver, unsigned instance, char **text,
			       struct ms_error *err)
{
	struct instance_info info;
	int dev = driver->open(err);
	enum found found = FOUND_NONE;

	if (dev < 0)
		return dev == -ENOENT ? FOUND_NONE : FOUND_ERROR;
	if (driver->info(dev, instance, &info) == 0) {
		*text = malloc(MAX_TEXT);
		if (*text)
			driver_console_tail(driver, dev, instance, *text, MAX_TEXT);
		else
			ms_fail(err, "out of memory");
		found = *text ? FOUND : FOUND_ERROR;
	}
	driver->close(dev);
	return found;
}

int ms_kmsg(unsigned instance, char **text, struct ms_error *err)
{
	const struct driver *driver;
	enum found found = FOUND_NONE;

	*text = NULL;
	for (size_t i = 0; found == FOUND_NONE && (driver = driver_number(i)); i++)
		found = read_console(driver, instance, text, err);
	if (found == FOUND_NONE)
		return ms_fail(err,
			       "expected LWK instance %u, found none; 'lwkctl status' lists them",
			       instance);
	return found == FOUND ? 0 : -1;
}
