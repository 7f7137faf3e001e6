// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/cpu.h>

static int __used try(void)
{
	return add_cpu(1);
}
