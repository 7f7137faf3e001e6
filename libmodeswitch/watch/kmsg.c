// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the console of an LWK instance.
 */
#include <errno.h>
#include <stdlib.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

#define MAX_TEXT (1UL << 20)

/*
 * Reads the console of the driver's instance of that number. 1: done, 0: it has none, -1: failed.
 */
static int read_console(const struct driver *driver, unsigned instance, char **text,
			struct ms_error *err)
{
	struct instance_info info;
	int dev = driver->open(err);
	int ret = 0;

	if (dev < 0)
		return dev == -ENOENT ? 0 : -1;
	if (driver->info(dev, instance, &info) == 0) {
		*text = malloc(MAX_TEXT);
		if (*text)
			driver_console_tail(driver, dev, instance, *text, MAX_TEXT);
		ret = *text ? 1 : ms_fail(err, "out of memory");
	}
	driver->close(dev);
	return ret;
}

int ms_kmsg(unsigned instance, char **text, struct ms_error *err)
{
	const struct driver *driver;
	int found = 0;

	*text = NULL;
	for (size_t i = 0; !found && (driver = driver_number(i)); i++)
		found = read_console(driver, instance, text, err);
	if (found == 0)
		return ms_fail(err,
			       "expected LWK instance %u, found none; 'lwkctl status' lists them",
			       instance);
	return found < 0 ? -1 : 0;
}
