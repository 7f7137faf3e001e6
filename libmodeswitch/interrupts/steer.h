/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where device interrupts go while Linux-only jobs want quiet (--quiet-irqs). Only decides;
 * quiet.c does.
 */
#ifndef STEER_H
#define STEER_H

#include <hwloc.h>
#include <stddef.h>

/* Where they go, best first. */
enum steer_place {
	STEER_FREE,   /* on cores that no job has */
	STEER_OS,     /* on the OS CPUs */
	STEER_SPREAD, /* there is nothing else: each CPU gets its share */
};

struct steer_cpus {
	hwloc_const_bitmap_t online; /* that may have interrupts at all */
	hwloc_const_bitmap_t quiet;  /* of jobs that want quiet */
	hwloc_const_bitmap_t busy;   /* of whatever jobs */
	hwloc_const_bitmap_t os;     /* OS CPUs */
	/* What each has had so far, by number; those after the last have had nothing. */
	const double *carried;
	size_t n_carried;
	double horizon; /* seconds for which is decided; above 0 */
};

struct steer_irq {
	hwloc_const_bitmap_t was;  /* its CPUs when nobody wants quiet */
	hwloc_const_bitmap_t now;  /* its CPUs as they are */
	hwloc_const_bitmap_t near; /* the CPUs near its device */
	double rate;		   /* interrupts per second */
	hwloc_bitmap_t to;	   /* the decision goes here */
};

/*
 * Decides for each interrupt; returns the place that was there for them.
 *
 * An interrupt is moved only if it must be: one that 'was' never on a quiet CPU has its own CPUs,
 * and one that is on free or OS CPUs stays where it is, though others may be better by now.
 *
 * Where CPUs must share, an interrupt has one CPU at a time: those with the highest rates go where
 * the least has come so far. So over time, though not at each moment, few heavy interrupts are
 * shared by many CPUs. All stay where they are while other places would make what CPUs have had at
 * the end of the horizon not much more even.
 * Without memory for that all stay.
 */
enum steer_place steer_decide(const struct steer_cpus *cpus, struct steer_irq *irqs, size_t n);

#endif
