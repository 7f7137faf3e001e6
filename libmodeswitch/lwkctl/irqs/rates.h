/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts per second, from the counts at two moments. */
#ifndef LWKCTL_IRQS_RATES_H
#define LWKCTL_IRQS_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

/* The interrupts that have come until one moment. */
struct reading {
	struct ms_irqs os;    /* to Linux's CPUs */
	struct ms_usage lwk;  /* to the LWK's; no CPUs: there is no LWK, or it has ended */
	struct timespec when; /* CLOCK_MONOTONIC */
};

/* The interrupts that came between two readings, or from boot until one. */
struct report {
	const struct reading *now, *before; /* before: NULL means from boot */
	const struct ms_job *job;	    /* NULL: none was asked for */
	double seconds;
};

struct spread {
	double min, mean, max;
};

/* Rates per second. 'place' is an index of the reading's CPUs, not the number of a CPU. */
double irq_rate(const struct report *report, const struct ms_irq *irq, size_t place);
double linux_rate(const struct report *report, size_t place, bool devices);
double lwk_rate(const struct report *report, size_t place);

/* True: the job has --quiet-irqs, no LWK, and its CPUs are Linux's. */
bool is_quiet(const struct report *report);

/*
 * The rates of the job's CPUs: of all interrupts that the LWK counted, or for a quiet job of device
 * interrupts. All 0 without a CPU.
 */
struct spread job_spread(const struct report *report);

#endif
