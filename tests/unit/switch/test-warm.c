// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the process that gives a warm partition back when its time is over. */
#include "unit/unit.h"

#include <sys/wait.h>

#include "base/clock.h"
#include "modeswitch/job.h"
#include "store/record.h"

#define JOB 7
#define RECORD "jobs/7.json"
#define LIMIT_S 30

static void keep_warm(unsigned seconds)
{
	struct ms_job job = { .job_id = JOB,
			      .state = MS_JOB_WARM,
			      .keep_warm = seconds,
			      .instance = MS_NO_INSTANCE };
	struct ms_error err;

	record_stamp(&job);
	assert_int_equal(record_publish(&job, &err), 0);
}

/* Starts a process that watches; one that goes on for too long is ended by a signal. */
static pid_t start_watch(void)
{
	struct ms_error err;
	pid_t child = fork();

	if (child == 0) {
		alarm(LIMIT_S);
		_exit(ms_cool_when_over(NULL, NULL, &err) & 0xff);
	}
	return child;
}

static int end_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Looking takes the lock, so a process that comes just then ends; it gets a successor. */
static void wait_until_it_watches(pid_t *child)
{
	int64_t end = clock_ms() + LIMIT_S * 1000;
	int fd;

	while ((fd = state_take("cool.lock")) >= 0) {
		close(fd);
		if (waitpid(*child, NULL, WNOHANG) == *child)
			*child = start_watch();
		assert_true(clock_ms() < end);
		usleep(10000);
	}
}

static void what_is_over_is_given_back(void **state)
{
	keep_warm(1);
	assert_int_equal(end_of(start_watch()), 0);
	assert_false(unit_exists(RECORD));
}

static void one_process_watches(void **state)
{
	struct ms_error err;
	pid_t first;

	keep_warm(600);
	first = start_watch();
	wait_until_it_watches(&first);
	assert_int_equal(end_of(start_watch()), 1);
	assert_true(unit_exists(RECORD));
	/* A job has taken the partition. */
	assert_int_equal(record_remove(JOB, &err), 0);
	assert_int_equal(end_of(first), 0);
	/* The next partition has a process again. */
	keep_warm(1);
	assert_int_equal(end_of(start_watch()), 0);
	assert_false(unit_exists(RECORD));
}

static void a_later_partition_may_be_over_earlier(void **state)
{
	pid_t first;

	keep_warm(600);
	first = start_watch();
	wait_until_it_watches(&first);
	keep_warm(1);
	assert_int_equal(end_of(first), 0);
	assert_false(unit_exists(RECORD));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup_root, unit_teardown_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_over_is_given_back),
		TEST(one_process_watches),
		TEST(a_later_partition_may_be_over_earlier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
