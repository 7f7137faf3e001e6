/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters on an instance's CPUs (LWK batch operation paper, table 1: ihk_setperfevent,
 * ihk_perfctl, ihk_getperfevent).
 *
 * Every CPU of the instance has the same counters. Whoever sets counters replaces those there were.
 * Setting, starting, stopping and removing interrupt each CPU once; reading does not.
 */
#ifndef MODESWITCH_COUNTERS_H
#define MODESWITCH_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <modeswitch/error.h>
#include <modeswitch/watch.h>

#define MS_MAX_COUNTERS 16
#define MS_COUNTER_NAME_SIZE 24

/* Counts of events, not scaled, since the counters were set and while they ran. */
struct ms_cpu_counters {
	unsigned cpu; /* Linux's number */
	bool torn;    /* they could not be read, and are 0 */
	uint64_t values[MS_MAX_COUNTERS];
};

struct ms_counters {
	bool running;
	size_t n;
	char names[MS_MAX_COUNTERS][MS_COUNTER_NAME_SIZE];
	struct ms_cpu_counters *cpus;
	size_t n_cpus;
};

/*
 * Registers counters for these events instead of those there were; they begin at 0 and stand
 * still. lwkctl(8) has the names of events. -1, and all as before: an unknown event, more than there
 * are counters for, or hardware counters where there are none.
 */
int ms_counters_set(struct ms_watch *watch, const char *const *events, size_t n,
		    struct ms_error *err);
/* Go on from the values they have; stand still. -1 also when there are none. */
int ms_counters_start(struct ms_watch *watch, struct ms_error *err);
int ms_counters_stop(struct ms_watch *watch, struct ms_error *err);
int ms_counters_remove(struct ms_watch *watch, struct ms_error *err);
/*
 * Of running ones each CPU's values are those of when it last left the LWK's kernel. Free what
 * it holds with ms_counters_release().
 */
int ms_counters_read(struct ms_watch *watch, struct ms_counters *counters, struct ms_error *err);
void ms_counters_release(struct ms_counters *counters);
/* As lwkctl(8) documents it. json_object_put() it. */
struct json_object *ms_counters_to_json(const struct ms_counters *counters);

#endif
