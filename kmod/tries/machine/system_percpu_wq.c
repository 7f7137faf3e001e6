// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/workqueue.h>

static bool __used try(struct delayed_work *work)
{
	return mod_delayed_work_on(0, system_percpu_wq, work, 1);
}
