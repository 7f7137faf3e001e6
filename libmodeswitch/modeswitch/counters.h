/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Performance counters of an instance's CPUs (LWK batch operation paper, table 1: ihk_setperfevent,
 * ihk_perfctl, ihk_getperfevent).
 *
 * Every CPU of the instance has the same counters. ms_counters_set() replaces those that anyone set
 * before. Setting, starting, stopping and removing counters interrupt each CPU once; reading them
 * does not. The owner of the job may do all of it, and root.
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

/* Each value counts events, unscaled, since the counters were set and while they ran. */
struct ms_cpu_counters {
	unsigned cpu; /* Linux's number */
	bool torn;    /* the values could not be read and are 0 */
	uint64_t values[MS_MAX_COUNTERS];
};

struct ms_counters {
	bool running;
	size_t n; /* counters on each CPU */
	char names[MS_MAX_COUNTERS][MS_COUNTER_NAME_SIZE];
	struct ms_cpu_counters *cpus;
	size_t n_cpus;
};

/*
 * Sets counters for these events; they are 0 and stopped. lwkctl(8) lists the names of events.
 * Fails, and leaves the old counters as they were, for an unknown event, for more events than the
 * CPUs have counters, and for hardware events on CPUs without hardware counters.
 */
int ms_counters_set(struct ms_watch *watch, const char *const *events, size_t n,
		    struct ms_error *err);
/*
 * Starts the counters, which go on from their values; stops them; removes them. Starting and
 * stopping fail when there are none.
 */
int ms_counters_start(struct ms_watch *watch, struct ms_error *err);
int ms_counters_stop(struct ms_watch *watch, struct ms_error *err);
int ms_counters_remove(struct ms_watch *watch, struct ms_error *err);
/*
 * Reads the counters of all CPUs. While counters run, a CPU's values are from the moment at which
 * it last left the LWK's kernel. ms_counters_release() frees what *counters holds.
 */
int ms_counters_read(struct ms_watch *watch, struct ms_counters *counters, struct ms_error *err);
void ms_counters_release(struct ms_counters *counters);
/*
 * Returns the JSON that lwkctl(8) documents, to be freed with json_object_put(); NULL: no memory.
 */
struct json_object *ms_counters_to_json(const struct ms_counters *counters);

#endif
