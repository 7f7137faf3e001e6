/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Linux of a scenario, beside the files of lwkpart.ko. */
#ifndef MODEL_LWKPART_LINUX_H
#define MODEL_LWKPART_LINUX_H

#include "kernel.h"

#define LINUX_TASKS 8

struct linux_side {
	struct task_struct tasks[LINUX_TASKS]; /* by the threads' numbers */
	struct {
		u32 pending;
		irqreturn_t (*handler)(int irq, void *data);
		void *data;
		int number;
		struct irq_data of;
	} irq;
};
extern struct linux_side *linux_side;

/* The thread of interrupts. */
void linux_interrupts(void *unused);
/* The LWK interrupts Linux. */
void interrupt_linux(void);
/* Linux, or a CPU of the LWK, interrupts one (lwk.c). */
void interrupt_lwk(u32 apicid);

#endif
