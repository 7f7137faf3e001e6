/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwkctl bench: switches this node's CPUs and memory several times, and runs the probe on Linux and
 * on the LWK.
 */
#ifndef LWKCTL_BENCH_MEASURE_H
#define LWKCTL_BENCH_MEASURE_H

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"

#define BENCH_MOST_ROUNDS 100

/* The figures that the probe prints, by its names for them; times are in nanoseconds. */
enum bench_figure {
	BENCH_GETPID,
	BENCH_CLOCK,
	BENCH_READ,
	BENCH_OPEN,
	BENCH_TOUCH,
	BENCH_FORK,
	BENCH_LOST, /* a share, 0 to 1 */
	BENCH_LONGEST,
	BENCH_FIGURES,
};
extern const char *const bench_figure_names[BENCH_FIGURES];

struct bench {
	/* The caller sets these. */
	hwloc_bitmap_t cpus; /* as a job's allocation */
	uint64_t memory;     /* of that job, bytes */
	const char *image;   /* "": the default image */
	int rounds;	     /* switches, at most BENCH_MOST_ROUNDS */
	double seconds;	     /* for which disturbances are counted, on each side */
	/* bench_measure() sets these. */
	hwloc_bitmap_t lwk_cpus; /* the CPUs that the LWK got */
	uint64_t lwk_memory;	 /* bytes */
	uint64_t on_us[BENCH_MOST_ROUNDS], off_us[BENCH_MOST_ROUNDS];
	struct ms_times on, off; /* the parts of the last switch */
	double linux_side[BENCH_FIGURES], lwk[BENCH_FIGURES];
};

/*
 * Switches and measures. The caller provides both bitmaps. 0; -1 with err when the node is not
 * idle, a switch is refused, or SIGINT, SIGTERM or SIGHUP comes: the node is back in Linux-only
 * mode then, unless err says otherwise. Root.
 */
int bench_measure(const struct ms_config *config, struct bench *bench, struct ms_error *err);

#endif
