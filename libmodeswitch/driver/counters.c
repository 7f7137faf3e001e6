// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The codes in the table below are those of the architectural events (Intel SDM volume 3, 20.2.1.2,
 * table 20-1), which mean the same on every CPU that has these events. Codes of raw events mean
 * something else on each CPU model.
 */
#include "driver/counters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#define NONE (-1)

static const struct hardware_event {
	const char *name;
	int code;  /* unit mask << 8 | event; NONE: fixed counters only */
	int fixed; /* the fixed counter for it, or NONE */
	int bit;   /* of ms_pmu.missing */
} hardware_events[] = {
	{ "cycles", 0x003c, 1, 0 },
	{ "instructions", 0x00c0, 0, 1 },
	/* The general event of that name counts in a unit that differs between CPUs. */
	{ "ref-cycles", NONE, 2, 2 },
	{ "cache-references", 0x4f2e, NONE, 3 },
	{ "cache-misses", 0x412e, NONE, 4 },
	{ "branches", 0x00c4, NONE, 5 },
	{ "branch-misses", 0x00c5, NONE, 6 },
};
#define N_HARDWARE (sizeof(hardware_events) / sizeof(*hardware_events))

static const char *const software_events[LWK_COUNTS] = {
	[LWK_COUNT_FAULTS] = "page-faults",
	[LWK_COUNT_INTERRUPTS] = "interrupts",
	[LWK_COUNT_DISTURBANCES] = "disturbances",
	[LWK_COUNT_LOCAL_CALLS] = "local-calls",
	[LWK_COUNT_DELEGATED_CALLS] = "delegated-calls",
	[LWK_COUNT_PROCESSES] = "processes",
};

#define SOFTWARE_EVENTS                                                                            \
	"page-faults, interrupts, disturbances, local-calls, delegated-calls, processes"
#define EVENTS                                                                                     \
	"cycles, instructions, ref-cycles, cache-references, cache-misses, branches, "             \
	"branch-misses, rUUEE (unit mask and event, hexadecimal), each with :u or :k or not; "     \
	"or " SOFTWARE_EVENTS

/* A hardware event for which no counter is found yet. */
struct wanted {
	const struct hardware_event *event; /* NULL: a raw one */
	int code, fixed;
	uint32_t when; /* LWK_SELECT_USER, LWK_SELECT_SYSTEM */
};

static bool parse_raw(const char *text, size_t length, int *code)
{
	char digits[5] = "";

	if (length < 2 || length > sizeof(digits) || text[0] != 'r')
		return false;
	memcpy(digits, text + 1, length - 1);
	for (const char *at = digits; *at; at++) {
		if (!isxdigit((unsigned char)*at))
			return false;
	}
	*code = strtol(digits, NULL, 16);
	return true;
}

/* Reads ":u", ":k" or "". "" means both user mode and kernel. */
static bool parse_when(const char *text, uint32_t *when)
{
	if (!*text)
		*when = LWK_SELECT_USER | LWK_SELECT_SYSTEM;
	else if (strcmp(text, ":u") == 0)
		*when = LWK_SELECT_USER;
	else if (strcmp(text, ":k") == 0)
		*when = LWK_SELECT_SYSTEM;
	else
		return false;
	return true;
}

static bool parse_hardware(const char *text, struct wanted *wanted)
{
	size_t length = strcspn(text, ":");

	if (!parse_when(text + length, &wanted->when))
		return false;
	for (size_t i = 0; i < N_HARDWARE; i++) {
		const struct hardware_event *event = &hardware_events[i];

		if (strlen(event->name) != length || strncmp(event->name, text, length) != 0)
			continue;
		wanted->event = event;
		wanted->code = event->code;
		wanted->fixed = event->fixed;
		return true;
	}
	wanted->event = NULL;
	wanted->fixed = NONE;
	return parse_raw(text, length, &wanted->code);
}

static bool parse_software(const char *text, struct lwk_counter *counter)
{
	for (uint32_t i = 0; i < LWK_COUNTS; i++) {
		if (strcmp(software_events[i], text) == 0) {
			*counter = (struct lwk_counter){ LWK_COUNTER_SOFTWARE, i, 0, 0 };
			return true;
		}
	}
	return false;
}

static bool is_taken(const struct lwk_counter *counters, size_t n, uint32_t kind, uint32_t number)
{
	for (size_t i = 0; i < n; i++) {
		if (counters[i].kind == kind && counters[i].number == number)
			return true;
	}
	return false;
}

/*
 * Returns the number of usable general counters. CPUs have the select registers of those beyond the
 * eighth elsewhere than IA32_PERFEVTSEL0 to 7.
 */
static unsigned general_counters(const struct ms_pmu *pmu)
{
	return pmu->counters < 8 ? pmu->counters : 8;
}

/* Sets counters[n] to a counter that the n before it leave free. Returns false if there is none. */
static bool find_counter(const struct wanted *wanted, const struct ms_pmu *pmu,
			 struct lwk_counter *counters, size_t n)
{
	unsigned fixed = wanted->fixed;

	if (wanted->fixed != NONE && fixed < pmu->fixed &&
	    !is_taken(counters, n, LWK_COUNTER_FIXED, fixed)) {
		counters[n] = (struct lwk_counter){ LWK_COUNTER_FIXED, fixed, wanted->when, 0 };
		return true;
	}
	for (uint32_t i = 0; wanted->code != NONE && i < general_counters(pmu); i++) {
		if (is_taken(counters, n, LWK_COUNTER_GENERAL, i))
			continue;
		counters[n] = (struct lwk_counter){ LWK_COUNTER_GENERAL, i,
						    wanted->code | wanted->when, 0 };
		return true;
	}
	return false;
}

static int place_hardware(const char *text, const struct wanted *wanted, const struct ms_pmu *pmu,
			  struct lwk_counter *counters, size_t n, struct ms_error *err)
{
	if (!pmu->version)
		return ms_fail(
			err,
			"not available here: expected a hardware counter for \"%s\", found "
			"CPUs that tell of no architectural performance counters (CPUID leaf "
			"0xa); what can be counted everywhere is " SOFTWARE_EVENTS,
			text);
	if (pmu->version < 2)
		return ms_fail(
			err,
			"not available here: expected a hardware counter for \"%s\", of "
			"version 2 or later, found version %u; what can be counted everywhere "
			"is " SOFTWARE_EVENTS,
			text, pmu->version);
	if (wanted->event && pmu->missing & 1U << wanted->event->bit)
		return ms_fail(err,
			       "not available here: expected a hardware counter for \"%s\", found "
			       "CPUs that do not have this event (CPUID leaf 0xa); the model may "
			       "have a raw one, rUUEE",
			       text);
	if (find_counter(wanted, pmu, counters, n))
		return 0;
	return ms_fail(err,
		       "expected a hardware counter for \"%s\", too, found that each CPU has %u "
		       "general and %u fixed ones, and those that could count it are taken by the "
		       "events before it; take fewer at a time",
		       text, general_counters(pmu), pmu->fixed);
}

int counters_place(const char *const *events, size_t n, const struct ms_pmu *pmu,
		   struct lwk_counter counters[MS_MAX_COUNTERS], struct ms_error *err)
{
	_Static_assert(MS_MAX_COUNTERS == LWK_MAX_COUNTERS, "as many");
	if (n > MS_MAX_COUNTERS)
		return ms_fail(
			err,
			"expected %zu counters, found room for %d on each CPU; take fewer at "
			"a time",
			n, MS_MAX_COUNTERS);
	for (size_t i = 0; i < n; i++) {
		struct wanted wanted = { 0 };

		if (parse_software(events[i], &counters[i]))
			continue;
		if (!parse_hardware(events[i], &wanted))
			return ms_fail(err, "expected an event: " EVENTS ", found \"%s\"",
				       events[i]);
		if (place_hardware(events[i], &wanted, pmu, counters, i, err) < 0)
			return -1;
	}
	return 0;
}

static const char *hardware_name(const struct lwk_counter *counter)
{
	for (size_t i = 0; i < N_HARDWARE; i++) {
		int of_event = counter->kind == LWK_COUNTER_FIXED ? hardware_events[i].fixed
								  : hardware_events[i].code;
		int of_counter = counter->kind == LWK_COUNTER_FIXED
					 ? (int)counter->number
					 : (int)(counter->select & LWK_SELECT_EVENT);

		if (of_event == of_counter)
			return hardware_events[i].name;
	}
	return NULL;
}

void counters_name(const struct lwk_counter *counter, char name[MS_COUNTER_NAME_SIZE])
{
	const char *known = counter->kind != LWK_COUNTER_SOFTWARE ? hardware_name(counter)
			    : counter->number < LWK_COUNTS	  ? software_events[counter->number]
								  : "";
	uint32_t when = counter->select & (LWK_SELECT_USER | LWK_SELECT_SYSTEM);
	const char *suffix = when == LWK_SELECT_USER ? ":u" : when == LWK_SELECT_SYSTEM ? ":k" : "";

	if (known)
		snprintf(name, MS_COUNTER_NAME_SIZE, "%s%s", known, suffix);
	else
		snprintf(name, MS_COUNTER_NAME_SIZE, "r%04x%s", counter->select & LWK_SELECT_EVENT,
			 suffix);
}

void ms_counters_release(struct ms_counters *counters)
{
	free(counters->cpus);
	counters->cpus = NULL;
}

static struct json_object *to_json(uint64_t value)
{
	return json_object_new_int64(value > INT64_MAX ? INT64_MAX : value);
}

static struct json_object *cpu_to_json(const struct ms_counters *counters,
				       const struct ms_cpu_counters *cpu)
{
	struct json_object *object = json_object_new_object();
	struct json_object *values = json_object_new_array();

	json_object_object_add(object, "cpu", to_json(cpu->cpu));
	json_object_object_add(object, "torn", json_object_new_boolean(cpu->torn));
	for (size_t i = 0; i < counters->n; i++)
		json_object_array_add(values, to_json(cpu->values[i]));
	json_object_object_add(object, "values", values);
	return object;
}

struct json_object *ms_counters_to_json(const struct ms_counters *counters)
{
	struct json_object *object = json_object_new_object();
	struct json_object *events = json_object_new_array(), *cpus = json_object_new_array();

	for (size_t i = 0; i < counters->n; i++)
		json_object_array_add(events, json_object_new_string(counters->names[i]));
	for (size_t i = 0; i < counters->n_cpus; i++)
		json_object_array_add(cpus, cpu_to_json(counters, &counters->cpus[i]));
	json_object_object_add(object, "running", json_object_new_boolean(counters->running));
	json_object_object_add(object, "events", events);
	json_object_object_add(object, "cpus", cpus);
	return object;
}
