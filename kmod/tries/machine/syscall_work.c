// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/sched.h>

static unsigned long __used try(void)
{
	return current_thread_info()->syscall_work;
}
