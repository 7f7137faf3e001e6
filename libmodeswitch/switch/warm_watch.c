// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that gives a warm partition back when its time is over. One process at a time does so
 * on a node, for whatever partition is warm.
 */
#include <unistd.h>

#include "modeswitch/job.h"
#include "store/state.h"
#include "switch/undo.h"
#include "switch/warm.h"

#define LOCK_FILE "cool.lock"

/* A later partition may be over before the one for which the process was started. */
#define LOOK_SECONDS 5

/* Ends what is over, and the watch when nothing is warm. */
static int look(int *watch, ms_say say, void *context, struct ms_error *err)
{
	struct ms_error ignored;
	int lock = state_lock(UNDO_LOCK_MS, &ignored), ret;

	/* A switch may hang. Nobody else gives the partition back after its end. */
	if (lock < 0) {
		sleep(LOOK_SECONDS);
		return 0;
	}
	ret = warm_end(true, say, context, err);
	/* A job that ends after this finds the file's lock free and starts a process of its own. */
	if (ret < 0 || ms_warm_left() < 0) {
		close(*watch);
		*watch = -1;
	}
	close(lock);
	return ret;
}

int ms_cool_when_over(ms_say say, void *context, struct ms_error *err)
{
	int watch = state_take(LOCK_FILE), ret = 0;
	int64_t left;

	if (watch < 0)
		return 1;
	while (watch >= 0) {
		left = ms_warm_left();
		if (left > 0)
			sleep(left < LOOK_SECONDS ? left : LOOK_SECONDS);
		else
			ret = look(&watch, say, context, err);
	}
	return ret;
}
