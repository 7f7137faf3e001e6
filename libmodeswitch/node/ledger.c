// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the kernel module's ledger of what this node has lent.
 */
#include <errno.h>
#include <string.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"

int ms_ledger(struct ms_lent **lent, size_t *n, struct ms_error *err)
{
	const struct driver *driver = &driver_lwkpart;
	int dev = driver->open(err), error;

	*lent = NULL;
	*n = 0;
	if (dev < 0)
		return dev == -ENOENT ? 0 : -1;
	error = driver->ledger(dev, lent, n);
	driver->close(dev);
	return error ? ms_fail(err, "the ledger cannot be read: %s", strerror(-error)) : 0;
}
