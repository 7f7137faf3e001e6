/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cpu.c writes for a parked CPU and park.S reads: the mailbox behind its IDT. */
#ifndef LWKPART_PARK_H
#define LWKPART_PARK_H

/* The mailbox follows 256 gates of 16 bytes, so the stub finds it by sidt. */
#define PARK_IDT_BYTES 4096
/* Offsets in struct park_mailbox. */
#define PARK_GO 0
#define PARK_GONE 4
#define PARK_CR3 8
#define PARK_STACK 16
#define PARK_PARAMS 24
#define PARK_ENTRY 32
#define PARK_INDEX 40

/* The stub is aligned to this and not longer, so it lies within one page. */
#define PARK_STUB_BYTES 256

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct park_mailbox {
	u32 go;	    /* written last by the starter: the rest is valid */
	u32 gone;   /* written by the CPU just before it leaves Linux for good */
	u64 cr3;    /* the LWK's page tables, which map the stub too */
	u64 stack;  /* RSP at the entry, an LWK address */
	u64 params; /* RDI at the entry, an LWK address */
	u64 entry;
	u32 index; /* RSI at the entry */
};

/* NMI handler of a parked CPU (park.S); its address is all that C may use. */
extern const char park_nmi[];
#endif

#endif
