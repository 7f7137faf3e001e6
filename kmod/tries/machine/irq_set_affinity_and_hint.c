// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/interrupt.h>

static void __used try(unsigned int irq)
{
	irq_set_affinity_and_hint(irq, cpumask_of(0));
}
