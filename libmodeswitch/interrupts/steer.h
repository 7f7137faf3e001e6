/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides where device interrupts go while Linux-only jobs want quiet (--quiet-irqs);
 * quiet/pass.c moves them.
 */
#ifndef STEER_H
#define STEER_H

#include <hwloc.h>
#include <stddef.h>

/* Places for interrupts, the best first. */
enum steer_place {
	STEER_FREE,   /* cores that no job has */
	STEER_OS,     /* the OS CPUs */
	STEER_SPREAD, /* without such CPUs: each CPU gets its share */
};

struct steer_cpus {
	hwloc_const_bitmap_t online; /* CPUs that may have interrupts at all */
	hwloc_const_bitmap_t quiet;  /* CPUs of jobs that want quiet */
	hwloc_const_bitmap_t busy;   /* CPUs of any job */
	hwloc_const_bitmap_t os;     /* OS CPUs */
	/* Interrupts that each CPU has had so far, by its number; CPUs after the last: 0. */
	const double *carried;
	size_t n_carried;
	double horizon; /* seconds that the decision is for; above 0 */
};

struct steer_irq {
	hwloc_const_bitmap_t was;  /* its CPUs when nobody wants quiet */
	hwloc_const_bitmap_t now;  /* its CPUs as they are */
	hwloc_const_bitmap_t near; /* the CPUs near its device */
	double rate;		   /* interrupts per second */
	hwloc_bitmap_t to;	   /* the decision goes here */
};

/*
 * Decides for each interrupt; returns the best place that there is.
 *
 * An interrupt moves only if it must: one whose CPUs 'was' are not quiet keeps them, and one that
 * is on free or OS CPUs stays there, even if other CPUs have become better.
 *
 * Where CPUs must share (STEER_SPREAD), an interrupt has one CPU at a time; the interrupts with the
 * highest rates go to the CPUs that have had the fewest so far. So over time many CPUs share a few
 * heavy interrupts. All stay where they are while moving them would make the totals of the CPUs
 * at the end of the horizon only a little more even. Without memory all stay.
 */
enum steer_place steer_decide(const struct steer_cpus *cpus, struct steer_irq *irqs, size_t n);

#endif
