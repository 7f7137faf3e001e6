// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests in which order the engine runs and undoes steps. These steps only mark what they have done,
 * in shared memory: processes that run steps are killed at every possible place, and another
 * process undoes from the journal.
 */
#include "unit/unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/signals.h"
#include "modeswitch/config.h"
#include "switch/engine.h"
#include "switch/fault.h"

#define MARKS 3

static struct world {
	bool marks[3][MARKS]; /* each step's */
	int actions;	      /* how many so far, doing and undoing */
	int stop_at;	      /* the action that fails or crashes */
	enum { NOTHING, FAIL, CRASH } how;
	int n_undone;
	char undone[64][16]; /* names of steps, in order */
	bool broken;	     /* step "b" cannot be undone */
} *world;

/* Everything that a step does to the world goes through here. */
static int act(bool *mark, bool value, struct ms_error *err)
{
	if (++world->actions == world->stop_at) {
		if (world->how == CRASH)
			_exit(99);
		if (world->how == FAIL)
			return ms_fail(err, "action %d failed", world->actions);
	}
	*mark = value;
	/* A crash may follow an action before it is recorded. */
	if (++world->actions == world->stop_at && world->how == CRASH)
		_exit(99);
	return 0;
}

static int do_marks(bool *marks, struct ms_error *err)
{
	for (int i = 0; i < MARKS; i++) {
		if (act(&marks[i], true, err) < 0)
			return -1;
	}
	return 0;
}

static int undo_marks(const char *name, bool *marks, struct ms_error *err)
{
	strcpy(world->undone[world->n_undone++], name);
	for (int i = 0; i < MARKS; i++) {
		if (marks[i] && act(&marks[i], false, err) < 0)
			return -1;
	}
	return 0;
}

static int do_a(struct switching *switching, struct ms_error *err)
{
	return do_marks(world->marks[0], err);
}

static int undo_a(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	assert_string_equal(journal_text(entry, "step"), "a");
	return undo_marks("a", world->marks[0], err);
}

static struct json_object *details_b(struct switching *switching)
{
	struct json_object *details = json_object_new_object();

	json_object_object_add(details, "expected", json_object_new_int(42));
	return details;
}

static int do_b(struct switching *switching, struct ms_error *err)
{
	return do_marks(world->marks[1], err);
}

static int undo_b(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	assert_int_equal(journal_number(entry, "expected"), 42);
	if (world->broken)
		return ms_fail(err, "b is broken");
	return undo_marks("b", world->marks[1], err);
}

static int check_b(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	return world->marks[1][MARKS - 1] ? ms_fail(err, "a mark of b is left") : 0;
}

static int do_nothing(struct switching *switching, struct ms_error *err)
{
	return 0;
}

/* Records each of its actions, as the memory step does. */
static int do_c(struct switching *switching, struct ms_error *err)
{
	for (int i = 0; i < MARKS; i++) {
		struct json_object *details = json_object_new_object();

		json_object_object_add(details, "mark", json_object_new_int(i));
		if (journal_record(switching->journal, "c", details, err) < 0 ||
		    act(&world->marks[2][i], true, err) < 0)
			return -1;
	}
	return 0;
}

static int undo_c(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	bool *mark = &world->marks[2][journal_number(entry, "mark")];

	strcpy(world->undone[world->n_undone++], *journal_text(entry, "mark") ? "c+" : "c");
	return *mark && *journal_text(entry, "mark") ? act(mark, false, err) : 0;
}

static const struct step step_a = { .name = "a", .run = do_a, .undo = undo_a };
static const struct step step_b = {
	.name = "b", .details = details_b, .run = do_b, .undo = undo_b, .check = check_b
};
static const struct step step_free = { .name = "free", .run = do_nothing };
static const struct step step_c = { .name = "c", .run = do_c, .undo = undo_c };
static const struct step *const steps[] = { &step_a, &step_b, &step_free, &step_c, NULL };

static const struct ms_config config = { .switch_timeout_ms = 60000 };

static int switch_on(struct ms_error *err)
{
	struct switching switching = { .job_id = 7,
				       .dev = -1,
				       .config = &config,
				       .deadline = clock_ms() + config.switch_timeout_ms };
	int ret;

	if (journal_create(7, 1000, "lwkpart", &switching.journal, err) < 0)
		return -1;
	ret = steps_run(steps, &switching, err);
	if (ret < 0) {
		world->how = NOTHING;
		assert_int_equal(steps_undo(steps, &switching, err), 0);
		ret = 1;
	}
	journal_close(switching.journal);
	return ret;
}

static int undo_from_journal(struct ms_error *err)
{
	struct switching switching = { .job_id = 7, .dev = -1 };
	int ret = journal_open(7, &switching.journal, err);

	if (ret <= 0)
		return ret;
	ret = steps_undo(steps, &switching, err);
	journal_close(switching.journal);
	return ret == 0 ? journal_remove(7, err) : ret;
}

static bool all_marks_are(bool value)
{
	for (int step = 0; step < 3; step++) {
		for (int i = 0; i < MARKS; i++) {
			if (world->marks[step][i] != value)
				return false;
		}
	}
	return true;
}

static void expect(int stop_at, int how)
{
	world->actions = 0;
	world->stop_at = stop_at;
	world->how = how;
}

static int setup(void **state)
{
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return world == MAP_FAILED ? -1 : unit_setup(state);
}

static int teardown(void **state)
{
	munmap(world, sizeof(*world));
	return unit_teardown(state);
}

static void done_in_order_and_undone_backwards(void **state)
{
	static const char *const order[] = { "c+", "c+", "c+", "c", "b", "a" };
	struct ms_error err;

	assert_int_equal(switch_on(&err), 0);
	assert_true(all_marks_are(true));
	assert_int_equal(undo_from_journal(&err), 0);
	assert_true(all_marks_are(false));
	assert_int_equal(world->n_undone, 6);
	for (int i = 0; i < 6; i++)
		assert_string_equal(world->undone[i], order[i]);
	assert_false(unit_exists("jobs/7.journal"));
	/* A second undo finds nothing to do. */
	assert_int_equal(undo_from_journal(&err), 0);
	assert_int_equal(world->n_undone, 6);
}

static void a_failure_anywhere_is_undone(void **state)
{
	struct ms_error err;
	int failures = 0;

	for (int at = 1;; at++) {
		memset(world, 0, sizeof(*world));
		expect(at, FAIL);
		if (switch_on(&err) == 0)
			break;
		failures++;
		assert_true(all_marks_are(false));
		assert_has(err.text, "failed");
		assert_int_equal(journal_remove(7, &err), 0);
		/* The actions are in pairs, and only the first of each can fail. */
		expect(0, NOTHING);
		at++;
	}
	assert_int_equal(failures, 9);
}

static void a_crash_anywhere_is_undone_from_the_journal(void **state)
{
	struct ms_error err;
	int crashes = 0;

	for (int at = 1;; at++) {
		memset(world, 0, sizeof(*world));
		expect(at, CRASH);
		if (unit_in_child(switch_on) != 99)
			break;
		crashes++;
		expect(0, NOTHING);
		assert_int_equal(undo_from_journal(&err), 0);
		assert_true(all_marks_are(false));
		assert_false(unit_exists("jobs/7.journal"));
	}
	assert_int_equal(crashes, 18);
}

static void a_crash_in_the_undo_of_a_crash_too(void **state)
{
	struct ms_error err;
	int crashes = 0;

	for (int at = 2; at <= 18; at++) {
		for (int undo_at = 1;; undo_at++) {
			bool finished;

			memset(world, 0, sizeof(*world));
			expect(at, CRASH);
			assert_int_equal(unit_in_child(switch_on), 99);
			expect(undo_at, CRASH);
			finished = unit_in_child(undo_from_journal) != 99;
			expect(0, NOTHING);
			assert_int_equal(undo_from_journal(&err), 0);
			assert_true(all_marks_are(false));
			if (finished)
				break;
			crashes++;
		}
	}
	assert_true(crashes > 100);
}

static void what_cannot_be_undone_does_not_stop_the_rest(void **state)
{
	struct ms_error err;

	assert_int_equal(switch_on(&err), 0);
	world->broken = true;
	assert_int_equal(undo_from_journal(&err), -1);
	assert_string_equal(err.text, "b is broken");
	assert_false(world->marks[0][0]);
	assert_true(world->marks[1][0]);
	assert_false(world->marks[2][0]);
	assert_true(unit_exists("jobs/7.journal"));
	world->broken = false;
	assert_int_equal(undo_from_journal(&err), 0);
	assert_true(all_marks_are(false));
}

static void an_undo_is_checked(void **state)
{
	struct ms_error err;
	struct step forgets = step_b;
	const struct step *const forgetful[] = { &forgets, NULL };
	struct switching switching = {
		.job_id = 7, .dev = -1, .config = &config, .deadline = clock_ms() + 60000
	};

	forgets.undo = undo_c; /* undo_c() does nothing for b's entry */
	assert_int_equal(journal_create(7, 1000, "lwkpart", &switching.journal, &err), 0);
	assert_int_equal(steps_run(forgetful, &switching, &err), 0);
	assert_int_equal(steps_undo(forgetful, &switching, &err), -1);
	assert_string_equal(err.text, "a mark of b is left");
	journal_close(switching.journal);
}

static void an_unknown_step_is_an_error(void **state)
{
	struct ms_error err;
	const struct step *const fewer[] = { &step_a, NULL };
	struct switching switching = { .job_id = 7 };

	assert_int_equal(switch_on(&err), 0);
	assert_int_equal(journal_open(7, &switching.journal, &err), 1);
	assert_int_equal(steps_undo(fewer, &switching, &err), -1);
	assert_has(err.text, "unknown step \"c\"");
	assert_false(world->marks[0][0]);
	journal_close(switching.journal);
}

static void a_step_that_only_looks_has_no_entry(void **state)
{
	struct ms_error err;
	static const struct step looks = { .name = "c" };
	const struct step *const without_undo[] = { &step_a, &looks, NULL };
	struct switching switching = { .job_id = 7 };

	assert_int_equal(switch_on(&err), 0);
	assert_int_equal(journal_open(7, &switching.journal, &err), 1);
	assert_int_equal(steps_undo(without_undo, &switching, &err), -1);
	assert_has(err.text, "unknown step \"c\"");
	journal_close(switching.journal);
}

static void a_journal_of_the_former_version_can_be_undone(void **state)
{
	struct ms_error err;
	struct switching switching = { .job_id = 7 };

	assert_int_equal(journal_create(7, 1000, "lwkpart", &switching.journal, &err), 0);
	assert_int_equal(journal_record(switching.journal, "a", NULL, &err), 0);
	assert_int_equal(journal_record(switching.journal, "cpusets", NULL, &err), 0);
	world->marks[0][0] = true;
	assert_int_equal(steps_undo(steps, &switching, &err), 0);
	assert_false(world->marks[0][0]);
	journal_close(switching.journal);
}

static void time_over_is_a_failure(void **state)
{
	struct switching switching = {
		.job_id = 7, .dev = -1, .config = &config, .deadline = clock_ms() - 1
	};
	struct ms_error err;

	assert_int_equal(journal_create(7, 1000, "lwkpart", &switching.journal, &err), 0);
	assert_int_equal(steps_run(steps, &switching, &err), -1);
	assert_has(err.text, "longer than SwitchTimeout=60");
	assert_true(all_marks_are(false));
	journal_close(switching.journal);
}

static void a_signal_is_a_failure(void **state)
{
	struct ms_error err;
	sigset_t pending;
	int got;

	signals_hold();
	raise(SIGTERM);
	assert_int_equal(switch_on(&err), 1);
	sigemptyset(&pending);
	sigaddset(&pending, SIGTERM);
	assert_int_equal(sigwait(&pending, &got), 0);
	signals_release();
	assert_true(all_marks_are(false));
	assert_string_equal(err.text, "the switch was cancelled by a signal; submit the job again");
}

static void root_orders_faults(void **state)
{
	struct ms_error err;

	unit_file("fault", "on b after fail\n");
	assert_int_equal(switch_on(&err), 1);
	assert_string_equal(err.text, "root ordered a fault after the step \"b\", switching on");
	assert_true(all_marks_are(false));
	assert_int_equal(journal_remove(7, &err), 0);
	/* The order is carried out once. */
	assert_true(unit_exists("fault.met"));
	assert_int_equal(switch_on(&err), 0);
	unit_file("fault", "off b before fail\n");
	assert_int_equal(undo_from_journal(&err), -1);
	assert_has(err.text, "before the step \"b\", switching off");
	assert_true(world->marks[1][0]);
	assert_false(world->marks[0][0]);
	assert_int_equal(undo_from_journal(&err), 0);
	assert_true(all_marks_are(false));
	assert_true(fault_forget());
	assert_false(fault_forget());
}

static void only_root_orders_faults(void **state)
{
	const char *path = unit_file("fault", "on b before fail\n");
	struct ms_error err;

	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(switch_on(&err), 0);
	assert_true(unit_exists("fault"));
}

static void an_ordered_death_is_undone(void **state)
{
	struct ms_error err;
	pid_t child;
	int status;

	unit_file("fault", "on c before kill\n");
	child = fork();
	if (child == 0)
		_exit(switch_on(&err));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_true(world->marks[1][0]);
	assert_int_equal(undo_from_journal(&err), 0);
	assert_true(all_marks_are(false));
}

static void a_switch_on_hold_goes_on_when_its_order_is_gone(void **state)
{
	struct ms_error err;
	pid_t child;
	int status;

	unit_file("fault", "on b before hold\n");
	child = fork();
	if (child == 0)
		_exit(switch_on(&err));
	while (!unit_exists("fault.met"))
		assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	assert_true(world->marks[0][MARKS - 1]);
	assert_false(world->marks[1][0]);
	assert_true(fault_forget());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(all_marks_are(true));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(done_in_order_and_undone_backwards),
		TEST(a_failure_anywhere_is_undone),
		TEST(a_crash_anywhere_is_undone_from_the_journal),
		TEST(a_crash_in_the_undo_of_a_crash_too),
		TEST(what_cannot_be_undone_does_not_stop_the_rest),
		TEST(an_undo_is_checked),
		TEST(an_unknown_step_is_an_error),
		TEST(a_step_that_only_looks_has_no_entry),
		TEST(a_journal_of_the_former_version_can_be_undone),
		TEST(time_over_is_a_failure),
		TEST(a_signal_is_a_failure),
		TEST(root_orders_faults),
		TEST(only_root_orders_faults),
		TEST(an_ordered_death_is_undone),
		TEST(a_switch_on_hold_goes_on_when_its_order_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
