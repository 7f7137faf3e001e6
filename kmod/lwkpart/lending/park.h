/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mailbox behind the IDT of a parked CPU: cpu.c writes it, park.S reads it. */
#ifndef LWKPART_PARK_H
#define LWKPART_PARK_H

/* The mailbox follows 256 gates of 16 bytes, so that the stub finds it by sidt. */
#define PARK_IDT_BYTES 4096
/* Offsets in struct park_mailbox. */
#define PARK_GO 0
#define PARK_GONE 4
#define PARK_CR3 8
#define PARK_STACK 16
#define PARK_PARAMS 24
#define PARK_ENTRY 32
#define PARK_INDEX 40

/* The stub is aligned to this and not longer, so that it lies within one page. */
#define PARK_STUB_BYTES 256

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct park_mailbox {
	u32 go;	    /* not 0: the rest is valid; cpu.c writes it last */
	u32 gone;   /* not 0: the CPU is about to enter the LWK */
	u64 cr3;    /* the LWK's page tables, which also map the stub */
	u64 stack;  /* RSP at the entry, an LWK address */
	u64 params; /* RDI at the entry, an LWK address */
	u64 entry;
	u32 index; /* RSI at the entry */
};

/* The NMI handler of a parked CPU (park.S). C code may only take its address. */
extern const char park_nmi[];
#endif

#endif
