// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/cpuhotplug.h>

static int __used try(void)
{
	return CPUHP_AP_SCHED_WAIT_EMPTY;
}
