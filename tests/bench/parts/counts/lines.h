/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of the CPUs' caches: each has a private one without an end, and a directory knows who has
 * which line (MSI: lines are shared, or modified by one). Callers see to it that one thread at a
 * time is here.
 */
#ifndef COUNTS_LINES_H
#define COUNTS_LINES_H

#include <stdint.h>
#include <stdio.h>

#define LINE_SHIFT 6
#define LINES_MAX_VCPUS 64

/* An access does this to a line. */
enum line_event {
	LINE_KEPT,     /* the CPU has it already */
	LINE_PASSED,   /* another CPU had modified it */
	LINE_UPGRADED, /* others only had read it */
	LINE_FETCHED,  /* it comes from memory */
};

/* 'number' is the line's physical address >> LINE_SHIFT, 'at' the address of the instruction. */
enum line_event line_load(unsigned vcpu, uint64_t number, uint64_t at);
enum line_event line_store(unsigned vcpu, uint64_t number, uint64_t at);
/* From here on passes are counted. */
void lines_begin(void);
/* Prints members of a JSON object, each after a comma: "passes", and the "lines" that passed most. */
void lines_print(FILE *out);
/* Forgets which CPU has what, when nothing was seen for a while. */
void lines_forget(void);

#endif
