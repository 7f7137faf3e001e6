/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The local APIC (Intel SDM volume 3, chapter 11). */
#ifndef LWK_MACHINE_APIC_H
#define LWK_MACHINE_APIC_H

#include "lwk/base/types.h"

#define TIMER_VECTOR 0xf1

/* Masks what Linux left and accepts interrupts. */
void apic_setup(void);
void apic_eoi(void);
void apic_send(u32 apicid, u32 vector);
/* Rings the doorbell to Linux of the CPU with this index. */
void apic_ring_linux(u32 cpu);
/* Interrupts this CPU once after about 'ns' nanoseconds, a second at most; 0: never. */
void apic_timer(u64 ns);

#endif
