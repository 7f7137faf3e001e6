// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/patience.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"

#define FIRST_WAIT_MS 50
#define LAST_WAIT_MS 500

struct patience patience_for(unsigned ms)
{
	return (struct patience){ .ms = ms, .end = clock_ms() + ms, .wait_ms = FIRST_WAIT_MS };
}

bool patience_lasts(struct patience *patience, int error)
{
	if (!error)
		*patience = patience_for(patience->ms);
	if (error != -EBUSY || clock_ms() >= patience->end)
		return false;
	usleep(patience->wait_ms * 1000);
	/* Each try may write a line to the kernel's log. */
	patience->wait_ms *= 2;
	if (patience->wait_ms > LAST_WAIT_MS)
		patience->wait_ms = LAST_WAIT_MS;
	return true;
}
