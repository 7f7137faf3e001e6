/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounting of a slot's time. Short calls are not timed, because two looks at the TSC
 * would cost as much as the call: they are the process's time, and counted.
 */
#include "lwk/watch/account.h"

u32 account(u32 state)
{
	struct lwk_cpu_times *times = &this_slot()->status->times;
	u32 former = times->state;
	u64 now = rdtsc();

	group_begin(&times->seq);
	times->tsc[former] += now - times->since_tsc;
	times->since_tsc = now;
	times->state = state;
	group_end(&times->seq);
	return former;
}
