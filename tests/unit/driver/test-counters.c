// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the choice of counters for events, and the values of a CPU's registers. */
#include "unit/unit.h"

#include <errno.h>

#include <json-c/json.h>

#include "driver/counters.h"
#include "driver/lwkpart/usage.h"
#include "lwk/watch/pmu.h"
#include "modeswitch/counters.h"
#include "modeswitch/watch.h"

/* The counters of a Xeon of the Skylake generation with hyper-threading. */
static const struct ms_pmu skylake = { .version = 4, .counters = 4, .fixed = 3, .bits = 48 };
static const struct ms_pmu no_fixed = { .version = 2, .counters = 2, .fixed = 0, .bits = 48 };
static const struct ms_pmu none = { 0 };

static struct lwk_counter counters[MS_MAX_COUNTERS];
static struct ms_error err;

static int place(const struct ms_pmu *pmu, const char *const *events)
{
	size_t n = 0;

	while (events[n])
		n++;
	memset(counters, 0, sizeof(counters));
	return counters_place(events, n, pmu, counters, &err);
}
#define PLACE(pmu, ...) place(pmu, (const char *const[]){ __VA_ARGS__, NULL })

/*
 * Checks event select and unit mask of the architectural events (Intel SDM volume 3, table 20-1).
 */
static void published_encodings(void **state)
{
	static const struct {
		const char *name;
		unsigned event, unit_mask;
	} table[] = {
		{ "cycles", 0x3c, 0x00 },	    { "instructions", 0xc0, 0x00 },
		{ "cache-references", 0x2e, 0x4f }, { "cache-misses", 0x2e, 0x41 },
		{ "branches", 0xc4, 0x00 },	    { "branch-misses", 0xc5, 0x00 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		assert_int_equal(PLACE(&no_fixed, table[i].name), 0);
		assert_int_equal(counters[0].kind, LWK_COUNTER_GENERAL);
		assert_int_equal(counters[0].number, 0);
		assert_int_equal(counters[0].select,
				 table[i].unit_mask << 8 | table[i].event | 3 << 16);
	}
}

/* Checks which fixed counter counts which event (table 20-2). */
static void fixed_counters_first(void **state)
{
	assert_int_equal(PLACE(&skylake, "cycles", "instructions", "ref-cycles", "cycles:u"), 0);
	assert_int_equal(counters[0].kind, LWK_COUNTER_FIXED);
	assert_int_equal(counters[0].number, 1);
	assert_int_equal(counters[1].kind, LWK_COUNTER_FIXED);
	assert_int_equal(counters[1].number, 0);
	assert_int_equal(counters[2].kind, LWK_COUNTER_FIXED);
	assert_int_equal(counters[2].number, 2);
	/* The fixed counter is taken. */
	assert_int_equal(counters[3].kind, LWK_COUNTER_GENERAL);
	assert_int_equal(counters[3].select, 0x3c | LWK_SELECT_USER);
}

static void raw_events(void **state)
{
	assert_int_equal(PLACE(&skylake, "r01a8", "r412E:u", "rc0:k", "r3"), 0);
	assert_int_equal(counters[0].select, 0x01a8 | LWK_SELECT_USER | LWK_SELECT_SYSTEM);
	assert_int_equal(counters[1].select, 0x412e | LWK_SELECT_USER);
	assert_int_equal(counters[2].select, 0x00c0 | LWK_SELECT_SYSTEM);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(counters[i].number, i);
}

static void names_come_back(void **state)
{
	static const char *const events[] = {
		"cycles:u",	   "instructions:k", "ref-cycles", "cache-misses:u", "branches",
		"r01a8:k",	   "page-faults",    "interrupts", "disturbances",   "local-calls",
		"delegated-calls", "processes",	     NULL
	};
	char name[MS_COUNTER_NAME_SIZE];

	assert_int_equal(place(&skylake, events), 0);
	for (size_t i = 0; events[i]; i++) {
		counters_name(&counters[i], name);
		assert_string_equal(name, events[i]);
	}
	/* An LWK or another program may have set counters that no event of ours uses. */
	counters_name(&(struct lwk_counter){ LWK_COUNTER_FIXED, 31, UINT32_MAX, 0 }, name);
	assert_string_equal(name, "rffff");
	counters_name(&(struct lwk_counter){ LWK_COUNTER_SOFTWARE, UINT32_MAX, 0, 0 }, name);
	assert_string_equal(name, "");
	counters_name(&(struct lwk_counter){ UINT32_MAX, 0, 0, 0 }, name);
	assert_string_equal(name, "r0000");
}

static void what_is_no_event(void **state)
{
	static const char *const wrong[] = {
		"",	  "cycle",	   "cycles:", "cycles:x", "cycles:uk", "r",
		"r12345", "rxyz",	   "r 1",     "r+1",	  "r-1",       ":u",
		"Cycles", "page-faults:u", "rc0:u:k", NULL
	};

	for (size_t i = 0; wrong[i]; i++) {
		assert_int_equal(PLACE(&skylake, wrong[i]), -1);
		assert_has(err.text, "expected an event");
		assert_has(err.text, wrong[i]);
	}
}

static void not_available(void **state)
{
	static const struct ms_pmu first = { .version = 1, .counters = 2, .bits = 40 };
	struct ms_pmu partial = skylake;

	assert_int_equal(PLACE(&none, "page-faults", "cycles"), -1);
	assert_has(err.text,
		   "not available here: expected a hardware counter for \"cycles\", found");
	assert_int_equal(PLACE(&none, "page-faults", "interrupts"), 0);
	assert_int_equal(PLACE(&first, "r00c0"), -1);
	assert_has(err.text, "not available here");
	assert_has(err.text, "found version 1");
	partial.missing = 1 << 4;
	assert_int_equal(PLACE(&partial, "cache-misses"), -1);
	assert_has(err.text, "do not have this event");
	assert_int_equal(PLACE(&partial, "cache-references", "r412e"), 0);
	assert_int_equal(PLACE(&no_fixed, "ref-cycles"), -1);
}

static void more_than_there_are(void **state)
{
	assert_int_equal(PLACE(&skylake, "r1", "r2", "r3", "r4", "cycles", "instructions"), 0);
	assert_int_equal(PLACE(&skylake, "r1", "r2", "r3", "r4", "cycles", "branches"), -1);
	assert_has(err.text, "\"branches\", too");
	assert_has(err.text, "4 general and 3 fixed");
	assert_int_equal(PLACE(&none, "interrupts", "interrupts", "interrupts", "interrupts",
			       "interrupts", "interrupts", "interrupts", "interrupts", "interrupts",
			       "interrupts", "interrupts", "interrupts", "interrupts", "interrupts",
			       "interrupts", "interrupts"),
			 0);
	assert_int_equal(PLACE(&none, "interrupts", "interrupts", "interrupts", "interrupts",
			       "interrupts", "interrupts", "interrupts", "interrupts", "interrupts",
			       "interrupts", "interrupts", "interrupts", "interrupts", "interrupts",
			       "interrupts", "interrupts", "interrupts"),
			 -1);
	assert_has(err.text, "expected 17 counters, found room for 16");
}

/* ---- the LWK's part ---- */

static struct lwk_status pmu;

static void encode(size_t n, struct pmu_registers *registers)
{
	memset(registers, 0, sizeof(*registers));
	for (size_t i = 0; i < n; i++)
		pmu_encode(&pmu, &counters[i], registers);
}

/*
 * Checks IA32_PERFEVTSELx, IA32_FIXED_CTR_CTRL and IA32_PERF_GLOBAL_CTRL (SDM figures 20-1 to
 * 20-3).
 */
static void registers(void **state)
{
	struct pmu_registers registers;

	pmu.pmu_version = 4;
	pmu.pmu_counters = 4;
	pmu.pmu_fixed = 3;
	assert_int_equal(PLACE(&skylake, "cycles:u", "instructions", "ref-cycles:k", "cache-misses",
			       "page-faults", "branches:u"),
			 0);
	encode(6, &registers);
	assert_int_equal(registers.select[0], 0x43412e);
	assert_int_equal(registers.select[1], 0x4100c4);
	assert_int_equal(registers.select[2], 0);
	/* Fixed counter 1 counts in user mode, 2 in the kernel, 0 in both; none interrupts. */
	assert_int_equal(registers.fixed, 0x123);
	assert_true(registers.global == 0x700000003);
}

/* The LWK does not trust Linux: it sets only bits that exist, of counters that exist. */
static void registers_of_nonsense(void **state)
{
	struct pmu_registers registers, zeros = { 0 };

	pmu.pmu_version = 4;
	pmu.pmu_counters = 4;
	pmu.pmu_fixed = 3;
	srandom(4);
	for (int round = 0; round < 10000; round++) {
		for (size_t i = 0; i < MS_MAX_COUNTERS; i++)
			counters[i] = (struct lwk_counter){ random() % 5, random() % 12,
							    random() ^ random() << 16, random() };
		encode(MS_MAX_COUNTERS, &registers);
		for (unsigned i = 0; i < PMU_MAX_GENERAL; i++)
			assert_int_equal(registers.select[i] & ~(i < 4 ? 0x43ffffUL : 0), 0);
		assert_int_equal(registers.fixed & ~0x333UL, 0);
		assert_true((registers.global & ~0x70000000fUL) == 0);
	}
	pmu.pmu_version = 1;
	encode(MS_MAX_COUNTERS, &registers);
	assert_memory_equal(&registers, &zeros, sizeof(zeros));
	/* The architecture has no registers for so many counters. */
	pmu.pmu_version = 9;
	pmu.pmu_counters = pmu.pmu_fixed = 255;
	counters[0] = (struct lwk_counter){ LWK_COUNTER_GENERAL, PMU_MAX_GENERAL, 0xc0, 0 };
	counters[1] = (struct lwk_counter){ LWK_COUNTER_FIXED, PMU_MAX_FIXED, 0, 0 };
	encode(2, &registers);
	assert_memory_equal(&registers, &zeros, sizeof(zeros));
}

/* ---- what the status area says ---- */

#define CPUS 2

static struct lwk_status *status;
static const struct usage_bounds bounds = {
	.bytes = LWK_STATUS_BYTES(CPUS), .n_cpus = CPUS, .tsc_khz = 1, .tsc = 1
};

/* The area has not a byte more than its bounds say, so that the sanitizer notices a read beyond. */
static int setup(void **state)
{
	status = calloc(1, bounds.bytes);
	return status ? 0 : -1;
}

static int teardown(void **state)
{
	free(status);
	return 0;
}

static void values_and_torn_ones(void **state)
{
	struct lwk_counters set = { .order = 6, .running = 1, .count = 2 };
	struct ms_counters read;
	struct json_object *json;

	assert_int_equal(counters_from_status(&set, status, &bounds, &read), -ENODATA);
	status->magic = LWK_SHARED_MAGIC;
	set.counters[1].number = LWK_COUNT_PROCESSES;
	status->cpu[0].linux_cpu = 7;
	status->cpu[0].counters = (struct lwk_cpu_counters){ 2, 6, { 11, UINT64_MAX, 13 } };
	status->cpu[1].counters = (struct lwk_cpu_counters){ 2, 4, { 1, 2 } };
	assert_int_equal(counters_from_status(&set, status, &bounds, &read), 0);
	assert_int_equal(read.n, 2);
	assert_int_equal(read.n_cpus, CPUS);
	assert_true(read.running && !read.cpus[0].torn && read.cpus[1].torn);
	assert_int_equal(read.cpus[0].cpu, 7);
	assert_int_equal(read.cpus[0].values[0], 11);
	assert_int_equal(read.cpus[0].values[2], 0);
	assert_int_equal(read.cpus[1].values[0], 0);
	json = ms_counters_to_json(&read);
	assert_string_equal(
		json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN),
		"{\"running\":true,\"events\":[\"page-faults\",\"processes\"],\"cpus\":["
		"{\"cpu\":7,\"torn\":false,\"values\":[11,9223372036854775807]},"
		"{\"cpu\":0,\"torn\":true,\"values\":[0,0]}]}");
	json_object_put(json);
	ms_counters_release(&read);
	/*
	 * The module never sets a higher count; a larger one is cut to the counters that there is
	 * room for.
	 */
	set.count = UINT32_MAX;
	status->cpu[0].counters.seq = 3;
	assert_int_equal(counters_from_status(&set, status, &bounds, &read), 0);
	assert_int_equal(read.n, MS_MAX_COUNTERS);
	assert_true(read.cpus[0].torn);
	ms_counters_release(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_encodings),
		cmocka_unit_test(fixed_counters_first),
		cmocka_unit_test(raw_events),
		cmocka_unit_test(names_come_back),
		cmocka_unit_test(what_is_no_event),
		cmocka_unit_test(not_available),
		cmocka_unit_test(more_than_there_are),
		cmocka_unit_test(registers),
		cmocka_unit_test(registers_of_nonsense),
		cmocka_unit_test_setup_teardown(values_and_torn_ones, setup, teardown),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
