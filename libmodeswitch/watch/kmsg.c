// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the console of an LWK instance.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

int ms_kmsg(unsigned instance, char **text, struct ms_error *err)
{
	const struct driver *driver = &driver_lwkpart;
	size_t size = 1 << 20;
	struct instance_info info;
	int dev = driver->open(err), error;

	if (dev < 0)
		return dev == -ENOENT
			       ? ms_fail(err, "there is no LWK instance: %s.ko is not loaded",
					 driver->module)
			       : -1;
	error = driver->info(dev, instance, &info);
	*text = error ? NULL : malloc(size);
	if (*text)
		driver_console_tail(driver, dev, instance, *text, size);
	driver->close(dev);
	if (error)
		return ms_fail(err, "there is no LWK instance %u: %s", instance, strerror(-error));
	return *text ? 0 : ms_fail(err, "out of memory");
}
