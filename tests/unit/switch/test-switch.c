// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the real steps with a driver and a /sys that only pretend (unit/fake.h). */
#include "modeswitch/config.h"
#include "modeswitch/plan.h"
#include "unit/fake.h"

#include <limits.h>

#include "base/clock.h"
#include "base/files.h"
#include "switch/engine.h"
#include "switch/steps/table.h"

#define JOB 7

static struct ms_config config = { .boot_timeout_ms = 10000, .switch_timeout_ms = 60000 };
static struct ms_plan_cpu plan_cpus[] = { { 5, 1, 4 }, { 6, 1, 4 }, { 7, 1, 4 } };
static struct ms_plan_memory plan_memory[] = { { .node = 1 }, { .node = 0 } };
static struct ms_plan plan = { .image = { .name = "lwk" },
			       .cpus = plan_cpus,
			       .n_cpus = 3,
			       .memory = plan_memory,
			       .n_memory = 2 };

/* 0: on; 1: failed and undone; -1: failed and not undone. */
static int switch_on(struct ms_error *err)
{
	struct switching switching = { .job_id = JOB,
				       .uid = 1000,
				       .driver = &fake_driver,
				       .dev = 5,
				       .config = &config,
				       .plan = &plan,
				       .image = "kernel",
				       .image_size = 6,
				       .deadline = clock_ms() + config.switch_timeout_ms };
	struct ms_error ignored;
	int ret;

	plan.bytes = plan.least = plan_memory[0].bytes + plan_memory[1].bytes;
	if (journal_create(JOB, 1000, "fake", &switching.journal, err) < 0)
		return -1;
	ret = steps_run(all_steps, &switching, err);
	if (ret < 0) {
		fake->how = NOTHING;
		ret = steps_undo(all_steps, &switching, &ignored) < 0 ? -1 : 1;
		if (ret == 1 && journal_remove(JOB, &ignored) < 0)
			ret = -1;
	}
	journal_close(switching.journal);
	free(switching.memory);
	return ret;
}

static int said;

static void count_line(const char *line, void *context)
{
	said++;
}

static int switch_off(struct ms_error *err)
{
	struct switching switching = {
		.job_id = JOB, .driver = &fake_driver, .dev = 5, .say = count_line
	};
	int ret = journal_open(JOB, &switching.journal, err);

	if (ret <= 0)
		return ret;
	ret = steps_undo(all_steps, &switching, err);
	journal_close(switching.journal);
	return ret < 0 ? ret : journal_remove(JOB, err);
}

static int setup(void **state)
{
	if (unit_setup(state) < 0 || fake_begin() < 0)
		return -1;
	files_root = unit_dir;
	plan.lwk_cpus = hwloc_bitmap_alloc();
	plan.linux_cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_set_range(plan.lwk_cpus, 5, 7);
	hwloc_bitmap_set(plan.linux_cpus, 4);
	plan_memory[0].bytes = 360 * MB; /* two movable blocks, and 104 MB in runs of 52 */
	plan_memory[1].bytes = 0;
	fake_make();
	/* The kernel has this file with cgroup version 2. */
	unit_file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
	return 0;
}

static int teardown(void **state)
{
	hwloc_bitmap_free(plan.lwk_cpus);
	hwloc_bitmap_free(plan.linux_cpus);
	fake_end();
	files_root = "";
	return unit_teardown(state);
}

static uint64_t lent_bytes(int node, bool blocks)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fake->n; i++) {
		if (!fake->lent[i].is_cpu && fake->lent[i].is_blocks == blocks &&
		    (int)fake->lent[i].node == node)
			sum += fake->lent[i].bytes;
	}
	return sum;
}

static void on_and_off(void **state)
{
	struct ms_error err;

	assert_int_equal(switch_on(&err), 0);
	assert_true(fake->booted);
	assert_string_equal(unit_read("jobs/7.sys/cpu/online"), "5-7\n");
	assert_string_equal(unit_read("jobs/7.sys/node/node1/meminfo"),
			    "Node 1 MemTotal:         368640 kB\n");
	for (size_t i = 0; i < fake->n; i++)
		assert_int_equal(fake->lent[i].instance, 0);
	/* The movable blocks come first; the rest is less than a block. */
	assert_block(35, "offline");
	assert_block(36, "offline");
	assert_int_equal(lent_bytes(1, true), 2 * BLOCK);
	assert_int_equal(lent_bytes(1, false), 104 * MB);
	said = 0;
	assert_int_equal(switch_off(&err), 0);
	assert_all_is_back();
	assert_block(35, "online_movable");
	/* An instance, two blocks, two runs, three CPUs. */
	assert_int_equal(said, 8);
}

static void kernel_blocks_return_to_the_kernel(void **state)
{
	struct ms_error err;

	plan_memory[0].bytes = 3 * BLOCK;
	assert_int_equal(switch_on(&err), 0);
	assert_block(32, "offline");
	assert_int_equal(switch_off(&err), 0);
	assert_block(32, "online_kernel");
	assert_block(35, "online_movable");
	assert_all_is_back();
}

static void another_node_helps_out(void **state)
{
	struct ms_error err;

	fake->largest_run = 0;
	plan_memory[0].bytes = 5 * BLOCK; /* node 1 has four that can go */
	assert_int_equal(switch_on(&err), 0);
	assert_int_equal(lent_bytes(1, true), 4 * BLOCK);
	assert_int_equal(lent_bytes(0, true), BLOCK);
	assert_block(33, "online");
	assert_block(37, "online");
	fake->free_runs = 1024 * MB;
	assert_int_equal(switch_off(&err), 0);
	assert_all_is_back();
}

static void memory_that_cannot_be_had(void **state)
{
	struct ms_error err;

	fake->free_runs = 0;
	plan_memory[0].bytes = 9 * BLOCK;
	assert_int_equal(switch_on(&err), 1);
	assert_has(err.text,
		   "expected 1152 MB of memory for the LWK, found 1 GB that Linux can give");
	fake->free_runs = 1024 * MB;
	assert_all_is_back();
	assert_false(unit_exists("jobs/7.journal"));
}

static void linux_keeps_enough(void **state)
{
	struct ms_error err;

	unit_file("proc/meminfo", "MemAvailable: 262143 kB\n"); /* less 128 MB: no block */
	fake->largest_run = 1024 * MB;
	assert_int_equal(switch_on(&err), 0);
	assert_int_equal(lent_bytes(1, true), 0);
	assert_int_equal(lent_bytes(1, false), 360 * MB);
	assert_int_equal(switch_off(&err), 0);
	unit_file("proc/meminfo", "MemAvailable: 131072 kB\n");
	assert_int_equal(switch_on(&err), 1);
	assert_has(err.text, "expected 360 MB of memory for the LWK, found 0 bytes");
	/* Linux's own mark counts when it is higher. */
	unit_file("proc/meminfo", "MemAvailable: 1048576 kB\n");
	unit_file("proc/sys/vm/min_free_kbytes", "524288\n");
	assert_int_equal(switch_on(&err), 1);
	assert_all_is_back();
}

static void a_block_that_the_module_does_not_want(void **state)
{
	struct ms_error err;

	fake->veto_blocks = true;
	assert_int_equal(switch_on(&err), 0);
	assert_block(35, "online_movable");
	assert_int_equal(lent_bytes(1, true), 0);
	assert_int_equal(lent_bytes(1, false), 360 * MB);
	assert_int_equal(switch_off(&err), 0);
	assert_all_is_back();
}

static void a_boot_that_fails_tells_the_console(void **state)
{
	struct ms_error err;

	fake->boot_fails = true;
	assert_int_equal(switch_on(&err), 1);
	assert_has(
		err.text,
		"did not boot: expected it to run within 10000 ms, found its state HUNG: no answer "
		"(Connection timed out); its console ends with: first line|last ? line");
	assert_all_is_back();
}

/* Linux forbids CPU hotplug for moments, for example while it probes a PCI device. */
static void cpu_hotplug_that_is_busy_is_tried_again(void **state)
{
	struct ms_error err;

	fake->busy = 2;
	if (switch_on(&err) != 0)
		fail_msg("%s", err.text);
	if (switch_off(&err) != 0)
		fail_msg("%s", err.text);
	assert_all_is_back();
}

static void cpu_hotplug_that_stays_busy_refuses_the_job(void **state)
{
	struct ms_error err;
	int64_t start = clock_ms();

	fake->busy = UINT_MAX;
	assert_int_equal(switch_on(&err), 1);
	assert_has(err.text, "Linux cannot spare CPU 5");
	assert_in_range(clock_ms() - start, 0, 20000);
	assert_all_is_back();
}

static void a_failure_anywhere_gives_all_back(void **state)
{
	struct ms_error err;
	int at, failures = 0;

	for (at = 1;; at++) {
		int ret;

		fake_make();
		fake->stop_at = at;
		fake->how = FAIL;
		ret = switch_on(&err);
		if (ret == 0 && fake->actions < at)
			break;
		if (ret == 0) /* the failure came after an action */
			assert_int_equal(switch_off(&err), 0);
		if (ret < 0)
			fail_msg("action %d: %s", at, err.text);
		failures += ret;
		assert_all_is_back();
	}
	/* CPUs 3, blocks 2, runs 3 (one is too large), an instance, assigning 3 + 4, load, boot. */
	assert_int_equal(failures, 18);
	fake->how = NOTHING;
	assert_int_equal(switch_off(&err), 0);
}

static void a_crash_anywhere_gives_all_back(void **state)
{
	struct ms_error err;
	int crashes = 0;

	for (int at = 1;; at++) {
		fake_make();
		fake->stop_at = at;
		fake->how = CRASH;
		/*
		 * When the process that searches a run crashes, the switch fails and undoes itself.
		 */
		if (unit_in_child(switch_on) != 99 && fake->booted)
			break;
		crashes++;
		fake->how = NOTHING;
		assert_int_equal(switch_off(&err), 0);
		assert_all_is_back();
	}
	assert_true(crashes > 20);
	fake->how = NOTHING;
	assert_int_equal(switch_off(&err), 0);
}

static void a_crash_while_switching_off_too(void **state)
{
	struct ms_error err;
	int crashes = 0;

	for (int at = 1;; at++) {
		fake_make();
		assert_int_equal(switch_on(&err), 0);
		fake->actions = 0;
		fake->stop_at = at;
		fake->how = CRASH;
		if (unit_in_child(switch_off) != 99)
			break;
		crashes++;
		fake->how = NOTHING;
		assert_int_equal(switch_off(&err), 0);
		assert_all_is_back();
	}
	/* An instance, four ranges, three CPUs. */
	assert_int_equal(crashes, 8);
	assert_all_is_back();
}

static void what_another_job_has_by_now_is_not_touched(void **state)
{
	struct ms_error err;

	assert_int_equal(switch_on(&err), 0);
	/* All has been undone but the journal, and lent to job 8 since. */
	fake->jobs[0] = 8;
	assert_int_equal(switch_off(&err), 0);
	assert_int_equal(fake->n, 7);
	assert_true(fake->instances[0]);
	assert_block(35, "offline");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(on_and_off),
		TEST(kernel_blocks_return_to_the_kernel),
		TEST(another_node_helps_out),
		TEST(memory_that_cannot_be_had),
		TEST(linux_keeps_enough),
		TEST(a_block_that_the_module_does_not_want),
		TEST(a_boot_that_fails_tells_the_console),
		TEST(cpu_hotplug_that_is_busy_is_tried_again),
		TEST(cpu_hotplug_that_stays_busy_refuses_the_job),
		TEST(a_failure_anywhere_gives_all_back),
		TEST(a_crash_anywhere_gives_all_back),
		TEST(a_crash_while_switching_off_too),
		TEST(what_another_job_has_by_now_is_not_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
