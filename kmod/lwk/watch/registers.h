/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of all CPUs at a panic, or when the LWK hangs, for a dump. */
#ifndef LWK_WATCH_REGISTERS_H
#define LWK_WATCH_REGISTERS_H

struct frame;
struct slot;

/* Makes room for registers on the first CPU; a panic before that leaves none. */
void registers_init(void);
/* Saves the registers of this CPU, whose slot is 'slot'; only the first call of a CPU counts. */
void registers_save(const struct slot *slot, const struct frame *frame);

#endif
