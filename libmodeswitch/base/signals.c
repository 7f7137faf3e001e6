// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

static sigset_t held, mask_before;
static bool holding;

void signals_hold(void)
{
	sigemptyset(&held);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	holding = pthread_sigmask(SIG_BLOCK, &held, &mask_before) == 0;
}

void signals_release(void)
{
	if (holding)
		pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
	holding = false;
}

bool signal_is_pending(void)
{
	sigset_t pending;

	return holding && sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGHUP) || sigismember(&pending, SIGINT) ||
		sigismember(&pending, SIGTERM));
}
