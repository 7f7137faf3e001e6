// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/math64.h>

static u64 __used try(u64 a)
{
	return mul_u64_u64_div_u64(a, a, a);
}
