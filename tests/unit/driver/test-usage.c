// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading the status areas of honest, broken and hostile LWKs. */
#include "unit/unit.h"

#include <errno.h>

#include <json-c/json.h>

#include "driver/lwkpart/usage.h"
#include "modeswitch/watch.h"

#define CPUS 3
#define KHZ 2000000 /* 2 cycles a nanosecond */
#define GB (1ULL << 30)

static struct lwk_status *status;
static const struct usage_bounds bounds = {
	.bytes = LWK_STATUS_BYTES(CPUS),
	.n_cpus = CPUS,
	.memory = GB,
	.tsc = 1000000000000,
	.tsc_khz = KHZ,
};

/* The area has not a byte more than its bounds say, so that the sanitizer notices a read beyond. */
static int setup(void **state)
{
	status = calloc(1, bounds.bytes);
	assert_non_null(status);
	status->magic = LWK_SHARED_MAGIC;
	status->user_bytes = GB - (8 << 20);
	status->kernel_bytes = 8 << 20;
	for (unsigned i = 0; i < CPUS; i++) {
		status->cpu[i].linux_cpu = 4 + i;
		status->cpu[i].linux_node = 1;
		status->cpu[i].times.state = LWK_CPU_IDLE;
	}
	return 0;
}

static int teardown(void **state)
{
	free(status);
	return 0;
}

static void read_status(struct ms_usage *usage)
{
	assert_int_equal(usage_from_status(status, &bounds, usage), 0);
	assert_int_equal(usage->n_cpus, CPUS);
}

static void honest_times(void **state)
{
	struct lwk_cpu_times *times = &status->cpu[1].times;
	struct ms_usage usage;

	times->state = LWK_CPU_USER;
	times->since_tsc = bounds.tsc - 600;
	times->tsc[LWK_CPU_USER] = 400;
	times->tsc[LWK_CPU_SYSTEM] = 50;
	times->tsc[LWK_CPU_DELEGATING] = 70;
	times->tsc[LWK_CPU_IDLE] = 1000;
	times->tsc[LWK_CPU_WAITING] = 20;
	read_status(&usage);
	assert_int_equal(usage.cpus[1].cpu, 5);
	assert_int_equal(usage.cpus[1].node, 1);
	assert_int_equal(usage.cpus[1].doing, MS_CPU_USER);
	assert_true(usage.cpus[1].has_process);
	assert_false(usage.cpus[1].torn);
	/*
	 * The CPU has computed since its last change of state; this time counts, too, though it is
	 * not in the area.
	 */
	assert_int_equal(usage.cpus[1].counts.user_ns, 500);
	assert_int_equal(usage.cpus[1].counts.system_ns, 25);
	assert_int_equal(usage.cpus[1].counts.delegating_ns, 35);
	assert_int_equal(usage.cpus[1].counts.idle_ns, 510);
	assert_int_equal(usage.total.user_ns, 500);
	assert_int_equal(usage.threads, 1);
	ms_usage_release(&usage);
}

static void honest_memory(void **state)
{
	struct ms_usage usage;

	status->kernel_used = 1 << 20;
	status->cpu[0].memory.node[1] = (struct lwk_node_pages){ 3, 2, 10 << 20, 5, 4, 0 };
	status->cpu[2].memory.node[1] = (struct lwk_node_pages){ 1, 0, 12 << 20, 6, 2, 0 };
	status->cpu[2].memory.node[0] = (struct lwk_node_pages){ 0, 0, 4096, 1, 0, 0 };
	status->cpu[2].memory.user_peak_bytes = 13 << 20;
	status->cpu[2].memory.kernel_bytes = 8192;
	read_status(&usage);
	assert_int_equal(usage.n_nodes, 2);
	assert_int_equal(usage.nodes[0].node, 0);
	assert_int_equal(usage.nodes[0].peak, 4096);
	assert_int_equal(usage.nodes[1].node, 1);
	assert_int_equal(usage.nodes[1].bytes_4k, 4 * 4096);
	assert_int_equal(usage.nodes[1].bytes_2m, 4 << 20);
	assert_int_equal(usage.nodes[1].peak, 12 << 20);
	assert_int_equal(usage.nodes[1].peak_4k, 6 * 4096);
	assert_int_equal(usage.nodes[1].peak_2m, 8 << 20);
	assert_int_equal(usage.memory, GB - (8 << 20));
	assert_int_equal(usage.memory_used, (4 << 20) + 4 * 4096);
	assert_int_equal(usage.memory_peak, 13 << 20);
	assert_int_equal(usage.kernel_used, (1 << 20) + 8192);
	ms_usage_release(&usage);
}

static void hardware_counters(void **state)
{
	struct ms_usage usage;

	status->pmu_counters = 4; /* without a version */
	read_status(&usage);
	assert_int_equal(usage.pmu.version, 0);
	assert_int_equal(usage.pmu.counters, 0);
	ms_usage_release(&usage);
	status->pmu_version = 2;
	status->pmu_bits = 48;
	status->pmu_fixed = UINT32_MAX;
	read_status(&usage);
	assert_int_equal(usage.pmu.version, 2);
	assert_int_equal(usage.pmu.counters, 4);
	assert_int_equal(usage.pmu.bits, 48);
	assert_int_equal(usage.pmu.fixed, 31);
	ms_usage_release(&usage);
}

static void what_is_no_status_area(void **state)
{
	struct usage_bounds wrong = bounds;
	struct ms_usage usage;

	status->magic = 0;
	assert_int_equal(usage_from_status(status, &bounds, &usage), -ENODATA);
	status->magic = LWK_SHARED_MAGIC;
	wrong.n_cpus = CPUS + 1; /* more than the area has */
	assert_int_equal(usage_from_status(status, &wrong, &usage), -ENODATA);
	wrong.n_cpus = UINT32_MAX;
	assert_int_equal(usage_from_status(status, &wrong, &usage), -ENODATA);
	wrong = bounds;
	wrong.tsc_khz = 0;
	assert_int_equal(usage_from_status(status, &wrong, &usage), -ENODATA);
	assert_null(usage.cpus);
}

static void a_group_that_is_left_odd(void **state)
{
	struct ms_usage usage;

	status->cpu[0].times.seq = 1;
	status->cpu[0].times.state = LWK_CPU_USER;
	status->cpu[0].times.tsc[LWK_CPU_USER] = 1000;
	status->cpu[1].memory.seq = UINT32_MAX;
	status->cpu[1].memory.node[0].pages_2m = 7;
	read_status(&usage);
	assert_true(usage.cpus[0].torn);
	assert_true(usage.cpus[1].torn);
	assert_false(usage.cpus[2].torn);
	assert_int_equal(usage.total.user_ns, 0);
	assert_int_equal(usage.memory_used, 0);
	ms_usage_release(&usage);
}

static void check_bounds(const struct ms_usage *usage)
{
	uint64_t longest = bounds.tsc / 2;

	assert_true(usage->memory <= GB && usage->memory_used <= usage->memory);
	assert_true(usage->memory_peak <= usage->memory);
	assert_true(usage->kernel_memory <= GB && usage->kernel_used <= usage->kernel_memory);
	assert_true(usage->kernel_peak <= usage->kernel_memory);
	assert_true(usage->threads <= CPUS && usage->n_nodes <= LWK_STATUS_NODES);
	for (size_t i = 0; i < usage->n_cpus; i++) {
		const struct ms_cpu_usage *cpu = &usage->cpus[i];

		assert_true(cpu->doing < MS_CPU_DOINGS);
		assert_non_null(ms_cpu_doing_word(cpu->doing));
		assert_true(cpu->counts.user_ns <= 2 * longest);
		assert_true(cpu->counts.idle_ns <= LWK_CPU_STATES * longest);
	}
	for (size_t i = 0; i < usage->n_nodes; i++) {
		assert_true(usage->nodes[i].bytes_4k <= GB && usage->nodes[i].bytes_2m <= GB);
		assert_true(usage->nodes[i].peak <= GB);
	}
}

/* All bytes are equal at first, and random then: the values stay bounded and printable. */
static void nonsense(void **state)
{
	struct json_object *json;
	struct ms_usage usage;

	srandom(4);
	for (int round = 0; round < 1000; round++) {
		unsigned char *bytes = (unsigned char *)status;

		for (size_t i = 0; i < bounds.bytes; i++)
			bytes[i] = round < 256 ? round : random();
		status->magic = LWK_SHARED_MAGIC;
		for (unsigned i = 0; i < CPUS; i++) {
			status->cpu[i].times.seq &= ~1U;
			status->cpu[i].memory.seq &= ~1U;
		}
		read_status(&usage);
		check_bounds(&usage);
		json = ms_usage_to_json(&usage);
		assert_non_null(json);
		json_object_put(json);
		ms_usage_release(&usage);
	}
}

static void counts_do_not_wrap(void **state)
{
	struct ms_usage usage;

	for (unsigned i = 0; i < CPUS; i++) {
		status->cpu[i].local_calls = UINT64_MAX - 1;
		status->cpu[i].delegated_calls[LWK_CALLS_FILES] = UINT64_MAX / 2;
	}
	read_status(&usage);
	assert_true(usage.total.local_calls == UINT64_MAX);
	assert_true(usage.total.delegated_calls[MS_CALLS_FILES] == UINT64_MAX);
	ms_usage_release(&usage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(honest_times, setup, teardown),
		cmocka_unit_test_setup_teardown(honest_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(hardware_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_status_area, setup, teardown),
		cmocka_unit_test_setup_teardown(a_group_that_is_left_odd, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(counts_do_not_wrap, setup, teardown),
	};

	return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
