// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads what this node has lent from the ledgers of all drivers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"

/*
 * A driver can work by another one, as ihk does with the library of contrib/ihk-compat. The other
 * one then lists all that it has lent, CPUs among it.
 */
static bool is_listed(const struct ms_lent *lent, size_t n, const struct ms_lent *own, size_t n_own)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n_own; j++) {
			if (lent[i].is_cpu && own[j].is_cpu && lent[i].cpu == own[j].cpu)
				return true;
		}
	}
	return false;
}

/* Appends what one driver has lent; nothing when its module is not loaded. */
static int append(const struct driver *driver, struct ms_lent **lent, size_t *n,
		  struct ms_error *err)
{
	struct ms_lent *own = NULL, *all;
	int dev = driver_open_any(driver, err), error;
	size_t n_own = 0;

	if (dev < 0)
		return dev == -ENOENT ? 0 : -1;
	error = driver->ledger(dev, &own, &n_own);
	driver->close(dev);
	if (error)
		return ms_fail(err, "the ledger of %s cannot be read: %s", driver->name,
			       strerror(-error));
	if (is_listed(*lent, *n, own, n_own))
		n_own = 0;
	all = n_own ? realloc(*lent, (*n + n_own) * sizeof(**lent)) : *lent;
	if (n_own && all)
		memcpy(all + *n, own, n_own * sizeof(*own));
	free(own);
	if (n_own && !all)
		return ms_fail(err, "out of memory");
	*lent = all;
	*n += n_own;
	return 0;
}

int ms_ledger(struct ms_lent **lent, size_t *n, struct ms_error *err)
{
	const struct driver *driver;

	*lent = NULL;
	*n = 0;
	for (size_t i = 0; (driver = driver_number(i)); i++) {
		if (append(driver, lent, n, err) < 0) {
			free(*lent);
			*lent = NULL;
			*n = 0;
			return -1;
		}
	}
	return 0;
}
