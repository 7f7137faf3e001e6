// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests undoing a job by its journal alone: journals that say too little, and what is told of the
 * job then.
 */
#include "unit/unit.h"

#include "modeswitch/job.h"
#include "store/journal.h"
#include "store/record.h"
#include "switch/undo.h"

#define JOB 7
#define JOURNAL "jobs/7.journal"

static void create(const char *driver)
{
	struct journal *journal;
	struct ms_error err;

	assert_int_equal(journal_create(JOB, 1000, driver, &journal, &err), 0);
	journal_close(journal);
}

static int undo(struct ms_error *err)
{
	return undo_job(JOB, NULL, NULL, NULL, err);
}

static void is_stuck(uid_t uid, const char *reason)
{
	struct ms_error err;
	struct ms_job job;

	assert_int_equal(record_find(JOB, &job, &err), 0);
	assert_int_equal(job.state, MS_JOB_STUCK);
	assert_int_equal(job.uid, uid);
	assert_has(job.reason, reason);
	ms_job_release(&job);
	assert_true(unit_exists(JOURNAL));
}

static void a_job_without_a_journal_needs_nothing(void **state)
{
	struct ms_error err;
	struct ms_job job;

	assert_int_equal(undo(&err), 0);
	assert_int_equal(record_find(JOB, &job, &err), -1);
}

static void a_journal_without_steps_is_removed(void **state)
{
	struct ms_error err;
	struct ms_job job;

	create("lwkpart");
	assert_int_equal(undo(&err), 0);
	assert_false(unit_exists(JOURNAL));
	/* The record says that the switch is under way, until some process removes it. */
	assert_int_equal(record_find(JOB, &job, &err), 0);
	assert_int_equal(job.state, MS_JOB_SWITCHING);
	assert_int_equal(job.uid, 1000);
	ms_job_release(&job);
}

/* A process that is killed while it creates the journal has begun no step. */
static void a_journal_without_its_first_line_is_removed(void **state)
{
	static const char *const torn[] = { "", "{\"version\":1,\"jo" };
	struct ms_error err;

	for (size_t i = 0; i < sizeof(torn) / sizeof(*torn); i++) {
		unit_file(JOURNAL, "%s", torn[i]);
		if (undo(&err) < 0)
			fail_msg("journal \"%s\": %s", torn[i], err.text);
		assert_false(unit_exists(JOURNAL));
	}
}

static void a_job_that_ended_is_forgotten(void **state)
{
	struct ms_error err;
	struct ms_job job;

	create("lwkpart");
	assert_int_equal(undo_and_forget(JOB, NULL, NULL, NULL, &err), 0);
	assert_false(unit_exists(JOURNAL));
	assert_int_equal(record_find(JOB, &job, &err), -1);
}

static void an_unknown_driver_leaves_the_job_stuck(void **state)
{
	struct ms_error err;

	create("nosuch");
	assert_int_equal(undo(&err), -1);
	assert_has(err.text, "expected a driver of this release in the journal, found \"nosuch\"");
	is_stuck(1000, "expected a driver of this release");
	assert_int_equal(undo_and_forget(JOB, NULL, NULL, NULL, &err), -1);
	is_stuck(1000, "expected a driver of this release");
}

static void damage_leaves_the_job_stuck(void **state)
{
	struct ms_error err;

	/* Without a first line the first driver is asked. */
	unit_file(JOURNAL, "rubbish\n");
	assert_int_equal(undo(&err), -1);
	assert_has(err.text, "7.journal: line 1 is damaged");
	is_stuck(0, "line 1 is damaged");
	unit_file(JOURNAL,
		  "{\"version\":1,\"job_id\":7,\"uid\":1000,\"driver\":\"lwkpart\"}\nrubbish\n");
	assert_int_equal(undo(&err), -1);
	assert_has(err.text, "line 2 is damaged");
	is_stuck(1000, "line 2 is damaged");
	/* Steps were begun, whatever the first line lacks. */
	unit_file(JOURNAL, "{\"version\":1,\"job_id\":7}\n{\"step\":\"cpus\",\"cpus\":\"5\"}\n");
	assert_int_equal(undo(&err), -1);
	is_stuck(0, "expected a driver of this release");
	/* A driver is not guessed where the first line is good. */
	unit_file(JOURNAL,
		  "{\"version\":1,\"job_id\":7,\"uid\":1000,\"driver\":\"nosuch\"}\nrubbish\n");
	assert_int_equal(undo(&err), -1);
	is_stuck(1000, "expected a driver of this release");
}

/* Nothing is wrong with the file then, so nobody should look for what damaged it. */
static void a_journal_of_a_newer_release_is_not_called_damaged(void **state)
{
	struct ms_error err;

	unit_file(JOURNAL, "{\"version\":3,\"job_id\":7,\"uid\":1000,\"driver\":\"lwkpart\"}\n");
	assert_int_equal(undo(&err), -1);
	assert_has(err.text, "expected a journal of version 2, found version 3");
	is_stuck(1000, "expected a journal of version 2");
}

static void a_journal_that_cannot_be_read_leaves_the_job_stuck(void **state)
{
	struct ms_error err;
	char path[128];

	unit_file("jobs/none", "x");
	snprintf(path, sizeof(path), "%s/" JOURNAL, unit_dir);
	assert_int_equal(symlink("/nosuch", path), 0);
	assert_int_equal(undo(&err), -1);
	assert_has(err.text, JOURNAL);
	assert_int_equal(unlink(path), 0);
	create("lwkpart");
	is_stuck(0, JOURNAL);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup_root, unit_teardown_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_without_a_journal_needs_nothing),
		TEST(a_journal_without_steps_is_removed),
		TEST(a_journal_without_its_first_line_is_removed),
		TEST(a_job_that_ended_is_forgotten),
		TEST(an_unknown_driver_leaves_the_job_stuck),
		TEST(damage_leaves_the_job_stuck),
		TEST(a_journal_of_a_newer_release_is_not_called_damaged),
		TEST(a_journal_that_cannot_be_read_leaves_the_job_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
