// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of the migrator that need no second NUMA node: checks of requests, lists of pages,
 * words, limits.
 */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "abi/lwkpart.h"
#include "base/clock.h"
#include "base/files.h"
#include "migrate/base/context.h"
#include "migrate/base/throttle.h"
#include "migrate/find/page_list.h"
#include "migrate/home/away_list.h"
#include "migrate/migrate.h"
#include "modeswitch/config.h"
#include "modeswitch/migrate.h"
#include "store/state.h"

static int setup(void **state)
{
	int ret = unit_setup_root(state);

	unit_file("sys/devices/system/node/has_memory", "0-1\n");
	return ret;
}

static void refuses(struct ms_migrate_request request, const char *from, const char *to,
		    const char *text)
{
	hwloc_bitmap_t from_nodes = hwloc_bitmap_alloc(), to_nodes = hwloc_bitmap_alloc();
	struct ms_migrate_state state;
	struct ms_error err = { "" };

	assert_int_equal(ms_parse_cpus(from, from_nodes, &err), 0);
	assert_int_equal(ms_parse_cpus(to, to_nodes, &err), 0);
	request.from = from_nodes;
	request.to = to_nodes;
	assert_int_equal(ms_migrate(&request, &state, &err), -1);
	assert_has(err.text, text);
	assert_false(state.complete);
	assert_int_equal(state.moved, 0);
	hwloc_bitmap_free(from_nodes);
	hwloc_bitmap_free(to_nodes);
}

static void bad_requests_are_refused(void **state)
{
	struct ms_migrate_request good = { .pid = getpid(), .sleep_ms = -1 }, bad = good;

	refuses(good, "", "1", "expected NUMA nodes with --from, found none");
	refuses(good, "0", "", "expected NUMA nodes with --to, found none");
	refuses(good, "0", "0-1", "without a common node");
	refuses(good, "0", "2", "found --to 2, and memory on nodes 0-1 only");
	/* A node whose memory is off-line. */
	unit_file("sys/devices/system/node/has_memory", "0\n");
	refuses(good, "0", "1", "found --to 1, and memory on nodes 0 only");
	refuses(good, "1", "0", "found --from 1, and memory on nodes 0 only");
	unit_file("sys/devices/system/node/has_memory", "0-1\n");
	bad.pid = 0;
	refuses(bad, "0", "1", "one of: a process, a job, a cgroup");
	bad.pid = -1;
	refuses(bad, "0", "1", "one of: a process, a job, a cgroup");
	bad = good;
	bad.job_id = 1;
	refuses(bad, "0", "1", "found none or several");
	bad = good;
	bad.pages = MS_MIGRATE_MIN_PAGES - 1;
	refuses(bad, "0", "1", "pages at a time, found 63");
	bad = good;
	bad.sleep_ms = MS_MIGRATE_MAX_SLEEP_MS + 1;
	refuses(bad, "0", "1", "expected a sleep");
	bad = good;
	bad.cpu_percent = NAN;
	refuses(bad, "0", "1", "expected a CPU limit");
	bad.cpu_percent = 100.5;
	refuses(bad, "0", "1", "found 100.5");
	bad = good;
	bad.method = MS_MIGRATE_METHODS;
	refuses(bad, "0", "1", "expected a method");
	bad = good;
	bad.pid = 0;
	bad.cgroup = unit_dir;
	refuses(bad, "0", "1", "is none; name a directory below /sys/fs/cgroup");
}

static void pages_are_listed_once_and_in_order(void **state)
{
	struct migration migration = { 0 };
	struct migrate_process process = { 0 };

	assert_non_null(page_list_add(&migration, &process, 0x200000 | LWKPART_PAGE_HUGE));
	assert_non_null(page_list_add(&migration, &process, 0x400000 | LWKPART_PAGE_REFERENCED));
	/* A page at the same address, and a huge page that begins before the last one. */
	assert_null(page_list_add(&migration, &process, 0x400000));
	assert_null(page_list_add(&migration, &process, 0x200000 | LWKPART_PAGE_HUGE));
	assert_non_null(page_list_add(&migration, &process,
				      0x40000000 | LWKPART_PAGE_HUGE | LWKPART_PAGE_HUGETLB |
					      LWKPART_PAGE_GIANT));
	assert_int_equal(process.n, 3);
	assert_int_equal(page_bytes(&process.pages[0]), 2 << 20);
	assert_int_equal(page_bytes(&process.pages[1]), 4096);
	assert_int_equal(page_bytes(&process.pages[2]), 1 << 30);
	assert_int_equal(page_address(&process.pages[1]), 0x400000);
	assert_int_equal(migration.state.found, (1 << 30) + (2 << 20) + 4096);
	free(process.pages);
}

static void everything_has_a_word(void **state)
{
	struct ms_migrate_state all = { .source = "none" };
	struct json_object *object, *left, *kinds;

	for (int i = 0; i < MS_MIGRATE_METHODS; i++)
		assert_non_null(ms_migrate_method_word(i));
	for (int i = 0; i < MS_LEFT_REASONS; i++)
		all.left[i] = i + 1;
	for (int i = 0; i < MS_KINDS; i++)
		all.kinds[i] = i + 1;
	object = ms_migrate_state_to_json(&all);
	assert_true(json_object_object_get_ex(object, "left", &left));
	assert_true(json_object_object_get_ex(object, "kinds", &kinds));
	assert_int_equal(json_object_object_length(left), MS_LEFT_REASONS);
	assert_int_equal(json_object_object_length(kinds), MS_KINDS);
	json_object_put(object);
}

static void limits_are_kept(void **state)
{
	struct ms_migrate_request request = { .bandwidth = 10 << 20 };
	struct migration migration = { .request = &request };
	int64_t start = clock_ns();

	throttle_init(&migration.throttle, &request);
	/* 2 MB at 10 MB/s are due after 200 ms; no upper bound, the host may be busy. */
	assert_true(throttle_wait(&migration, 1 << 20, 0));
	assert_true(throttle_wait(&migration, 1 << 20, 0));
	assert_true(clock_ns() - start >= 200000000);
}

static bool never_return(void *context)
{
	for (;;)
		pause();
	return false;
}

/* A process that is looked at can keep the one that looks waiting; so can a function of the request. */
static void a_migration_that_hangs_is_given_up(void **state)
{
	hwloc_bitmap_t from = hwloc_bitmap_alloc(), to = hwloc_bitmap_alloc();
	struct ms_migrate_request request = {
		.from = from, .to = to, .method = MS_ADAPTIVE, .stop = never_return
	};
	struct migrate_selection none = { .pid = 1 };
	struct ms_migrate_state result;
	struct ms_error err = { "" };
	int64_t start = clock_ns();

	hwloc_bitmap_set(from, 0);
	hwloc_bitmap_set(to, 1);
	assert_int_equal(migrate_selected(&request, &none, 1, 300, &result, &err), -ETIMEDOUT);
	assert_true(clock_ns() - start >= 300000000);
	assert_has(err.text, "keeps them waiting for longer than 300 ms");
	/* The state has what the child found before. */
	assert_string_not_equal(result.source, "none");
	/* The child that did it has ended, and nothing is to be waited for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(to);
}

static void a_migration_in_a_child_tells_its_end(void **state)
{
	hwloc_bitmap_t from = hwloc_bitmap_alloc();
	struct ms_migrate_request request = { .from = from, .to = from };
	struct migrate_selection none = { .pid = 1 };
	struct ms_migrate_state result;
	struct ms_error err = { "" };

	hwloc_bitmap_set(from, 0);
	assert_int_equal(migrate_selected(&request, &none, 1, 60000, &result, &err), -1);
	assert_has(err.text, "without a common node");
	assert_string_equal(result.source, "none");
	hwloc_bitmap_free(from);
}

/* Writes to the list as a process does that is killed, or has no more room. */
static void append_line(const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/jobs/7.away", unit_dir);
	file = fopen(path, "a");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void a_torn_line_takes_no_other_with_it(void **state)
{
	struct migrate_page page = { 0 };
	struct migrate_process process = { .pid = getpid(), .started = 5, .pages = &page, .n = 1 };
	struct migration migration = { .processes = &process, .n_processes = 1 };
	struct away_lines lines = { 0 };
	char path[64];
	struct ms_error err;

	snprintf(path, sizeof(path), "proc/%d/cgroup", getpid());
	unit_file(path, "0::/system.slice/slurmstepd.scope/job_3/step_0/user/task_0\n");
	unit_file("jobs/7.away", "0 100 5 1000 2000\n1 101 5 30");
	assert_int_equal(away_list_add(&migration, 7, 1, &err), 0);
	append_line("1 102 5 5000 6000\n1 103");
	assert_int_equal(away_list_read(7, &lines, &err), 0);
	assert_int_equal(lines.n, 3);
	assert_int_equal(lines.all[0].pid, 100);
	assert_int_equal(lines.all[1].pid, 102);
	assert_int_equal(lines.all[2].pid, getpid());
	free(lines.all);
}

static void count(const char *line, void *context)
{
	*(int *)context += strstr(line, "another lwkctl rehome") != NULL;
}

/* The pages of a job that ends while others are brought home are brought by the process that does. */
static void rehome_leaves_to_the_one_that_runs(void **state)
{
	struct ms_config config = { .rehome = false, .os_cpus = hwloc_bitmap_alloc() };
	struct ms_error err;
	int lock = state_lock(0, &err), file, told = 0, status;
	pid_t runs;

	assert_true(lock >= 0);
	unit_file("jobs/7.away", "0 100 5 1000 2000\n");
	file = open(unit_file("rehome.lock", "not taken"), O_RDWR | O_CLOEXEC);
	assert_true(file >= 0);
	runs = fork();
	if (runs == 0) {
		close(lock);
		_exit(ms_rehome(&config, count, &told, &err) < 0 || told);
	}
	/* The lock of switching keeps it from bringing what it has found. */
	while (lseek(file, 0, SEEK_END) != 0)
		usleep(1000);
	unit_file("jobs/8.away", "0 100 5 1000 2000\n");
	assert_int_equal(ms_rehome(&config, count, &told, &err), 0);
	assert_int_equal(told, 1);
	assert_true(unit_exists("jobs/7.away"));
	close(lock);
	assert_int_equal(waitpid(runs, &status, 0), runs);
	assert_int_equal(status, 0);
	assert_false(unit_exists("jobs/7.away"));
	assert_false(unit_exists("jobs/8.away"));
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	close(file);
	hwloc_bitmap_free(config.os_cpus);
}

/* A process of job 7 keeps its memory map locked so often; job 8 has none that does. */
static int locked_tries, pauses;
static char order[64];

typeof(migrate_selected) __real_migrate_selected, __wrap_migrate_selected;
typeof(usleep) __real_usleep, __wrap_usleep;

int __wrap_migrate_selected(const struct ms_migrate_request *request,
			    const struct migrate_selection *selections, size_t n,
			    unsigned patience_ms, struct ms_migrate_state *state,
			    struct ms_error *err)
{
	pid_t pid = selections->pid;

	if (pid != 700 && pid != 800)
		return __real_migrate_selected(request, selections, n, patience_ms, state, err);
	if (strlen(order) < sizeof(order) - 2)
		sprintf(order + strlen(order), "%d", pid / 100);
	return pid == 700 && locked_tries-- > 0 ? (ms_fail(err, "locked"), -EBUSY) : 0;
}

int __wrap_usleep(useconds_t us)
{
	if (us < 100000)
		return __real_usleep(us);
	pauses++;
	return 0;
}

static int rehome_two(int tries, struct ms_error *err)
{
	struct ms_config config = { .rehome = true, .os_cpus = hwloc_bitmap_alloc() };
	int ignored = 0, ret;

	locked_tries = tries;
	pauses = 0;
	*order = '\0';
	/* The other process of job 7 is not locked. */
	unit_file("jobs/7.away", "0 700 5 1000 2000\n1 800 5 1000 2000\n");
	unit_file("jobs/8.away", "0 800 5 1000 2000\n");
	ret = ms_rehome(&config, count, &ignored, err);
	hwloc_bitmap_free(config.os_cpus);
	return ret;
}

static void locked_processes_are_tried_again_after_all_others(void **state)
{
	struct ms_error err;

	assert_int_equal(rehome_two(2, &err), 0);
	assert_true(strcmp(order, "7887878") == 0 || strcmp(order, "8787878") == 0);
	assert_int_equal(pauses, 2);
	assert_false(unit_exists("jobs/7.away"));
	assert_false(unit_exists("jobs/8.away"));
}

static void what_stays_locked_is_kept_for_the_next_rehome(void **state)
{
	struct ms_error err;

	assert_int_equal(rehome_two(1000, &err), -1);
	assert_string_equal(err.text, "locked");
	assert_true(unit_exists("jobs/7.away"));
	assert_false(unit_exists("jobs/8.away"));
	assert_int_equal(rehome_two(0, &err), 0);
	assert_false(unit_exists("jobs/7.away"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bad_requests_are_refused, setup,
						unit_teardown_root),
		cmocka_unit_test(pages_are_listed_once_and_in_order),
		cmocka_unit_test(everything_has_a_word),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test_setup_teardown(a_migration_that_hangs_is_given_up, setup,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_migration_in_a_child_tells_its_end, setup,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(rehome_leaves_to_the_one_that_runs, setup,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(locked_processes_are_tried_again_after_all_others,
						setup, unit_teardown_root),
		cmocka_unit_test_setup_teardown(what_stays_locked_is_kept_for_the_next_rehome,
						setup, unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_torn_line_takes_no_other_with_it, setup,
						unit_teardown_root),
	};

	return cmocka_run_group_tests_name("migrate", tests, NULL, NULL);
}
