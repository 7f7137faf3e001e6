/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patience with Linux when it answers -EBUSY: it forbids CPU hotplug for moments, for example while
 * it probes a PCI device.
 *
 *	struct patience patience = patience_for(3000);
 *	...
 *	do
 *		error = call();
 *	while (patience_lasts(&patience, error));
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct patience {
	unsigned ms;	  /* how long in all, from the last success on */
	int64_t end;	  /* as clock_ms() */
	unsigned wait_ms; /* before the next try */
};

struct patience patience_for(unsigned ms);

/* Waits and returns true if the call should be made once more after this result. */
bool patience_lasts(struct patience *patience, int error);

#endif
