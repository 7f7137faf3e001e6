/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exceptions and interrupts, and the way back to user mode. */
#ifndef LWK_MACHINE_TRAP_H
#define LWK_MACHINE_TRAP_H

#include "lwk/machine/frame.h"

/* Answers an exception or interrupt, called by entry.S. */
void trap(struct frame *frame);
/* Does what is due before user code runs (again): orders, signals. */
void before_user(struct frame *frame);
/* Must be the last call before user code runs or the CPU halts: interrupts are answered again. */
void leave_kernel(void);

#endif
