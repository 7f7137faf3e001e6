// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/apic.h>
#include <asm/processor.h>

static void __used try(void)
{
	weak_wrmsr_fence();
}
