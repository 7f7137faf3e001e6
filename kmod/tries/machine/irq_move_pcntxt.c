// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/irq.h>

static void __used try(unsigned int irq)
{
	irq_set_status_flags(irq, IRQ_MOVE_PCNTXT);
}
