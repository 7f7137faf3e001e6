// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/cc_platform.h>

static bool __used try(void)
{
	return cc_platform_has(CC_ATTR_MEM_ENCRYPT);
}
