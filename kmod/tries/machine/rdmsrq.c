// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/msr.h>

static u64 __used try(void)
{
	u64 value;

	rdmsrq(MSR_IA32_APICBASE, value);
	return value;
}
