// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/device.h>
#include <linux/module.h>

static void __used try(void)
{
	class_create(THIS_MODULE, "lwk");
}
