// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests records of jobs: publishing, listing, reconciling, and the file of ended jobs. */
#include "unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "modeswitch/config.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "store/journal.h"
#include "store/record.h"
#include "switch/report.h"

static void fill(struct ms_job *job, uint32_t id)
{
	memset(job, 0, sizeof(*job));
	job->job_id = id;
	job->uid = 4000000000U;
	job->state = MS_JOB_ACTIVE;
	strcpy(job->image, "lwk");
	strcpy(job->driver, "lwkpart");
	strcpy(job->reason, "with \"quotes\",\n\\ and /");
	strcpy(job->device, "/dev/lwk/3");
	job->instance = 3;
	job->lwk_cpus = hwloc_bitmap_alloc();
	job->linux_cpus = hwloc_bitmap_alloc();
	job->nodes = hwloc_bitmap_alloc();
	hwloc_bitmap_set_range(job->lwk_cpus, 5, 7);
	hwloc_bitmap_set(job->linux_cpus, 4);
	hwloc_bitmap_set(job->nodes, 1);
	job->memory = 1UL << 40;
	job->runs = 2;
	job->largest_run = 1UL << 39;
	job->switch_on_ms = 799;
	job->times.n = 2;
	strcpy(job->times.parts[0].name, "plan");
	job->times.parts[0].us = 123456;
	strcpy(job->times.parts[1].name, "boot");
	job->times.parts[1].us = 7;
	job->since = 1795266648;
	job->since_boot = 77;
}

static void round_trip(void **state)
{
	struct ms_job job, again;
	struct ms_error err;
	char path[128];
	struct stat st;

	fill(&job, 4294967294U);
	assert_int_equal(record_publish(&job, &err), 0);
	assert_int_equal(ms_job_get(4294967294U, &again, &err), 1);
	assert_int_equal(again.job_id, job.job_id);
	assert_int_equal(again.uid, job.uid);
	assert_int_equal(again.state, job.state);
	assert_string_equal(again.image, job.image);
	assert_string_equal(again.driver, job.driver);
	assert_string_equal(again.reason, job.reason);
	assert_string_equal(again.device, job.device);
	assert_int_equal(again.instance, job.instance);
	assert_true(hwloc_bitmap_isequal(again.lwk_cpus, job.lwk_cpus));
	assert_true(hwloc_bitmap_isequal(again.linux_cpus, job.linux_cpus));
	assert_true(hwloc_bitmap_isequal(again.nodes, job.nodes));
	assert_int_equal(again.memory, job.memory);
	assert_int_equal(again.runs, job.runs);
	assert_int_equal(again.largest_run, job.largest_run);
	assert_int_equal(again.switch_on_ms, job.switch_on_ms);
	assert_int_equal(again.times.n, 2);
	assert_string_equal(again.times.parts[0].name, "plan");
	assert_int_equal(again.times.parts[0].us, 123456);
	assert_int_equal(again.times.parts[1].us, 7);
	assert_int_equal(again.times.total_us, 123463);
	assert_int_equal(again.since, job.since);
	assert_int_equal(again.since_boot, job.since_boot);
	ms_job_release(&again);
	snprintf(path, sizeof(path), "%s/jobs/4294967294.json", unit_dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(record_remove(job.job_id, &err), 0);
	assert_int_equal(record_remove(job.job_id, &err), 0);
	assert_int_equal(ms_job_get(job.job_id, &again, &err), 0);
	ms_job_release(&job);
}

/* An administrator may set the clock: it tells a job's age only where no other source does. */
static void setting_the_clock_makes_no_job_older(void **state)
{
	struct ms_job job = { 0 };

	record_stamp(&job);
	assert_true(job.since_boot > 0);
	job.since -= 3600;
	assert_in_range(ms_job_age(&job), 0, 60);
	job.since += 7200;
	assert_in_range(ms_job_age(&job), 0, 60);
	job.since_boot -= 100;
	assert_in_range(ms_job_age(&job), 100, 160);
	/* An earlier version's record. */
	job = (struct ms_job){ .since = time(NULL) - 200 };
	assert_in_range(ms_job_age(&job), 200, 260);
}

static void refusing_needs_no_configuration(void **state)
{
	struct ms_error err;
	struct ms_job job;

	assert_int_equal(ms_switch_refuse(9, 1000, "because", &err), 0);
	assert_int_equal(ms_job_get(9, &job, &err), 1);
	assert_int_equal(job.state, MS_JOB_REFUSED);
	assert_int_equal(job.instance, MS_NO_INSTANCE);
	assert_string_equal(job.reason, "because");
	ms_job_release(&job);
	assert_int_equal(ms_switch_off(9, NULL, &err), 0);
	assert_int_equal(ms_job_get(9, &job, &err), 0);
}

static void jobs_are_listed_by_number(void **state)
{
	static const uint32_t ids[] = { 100, 9, 20 };
	struct ms_error err;
	struct ms_job *jobs;
	size_t n;

	assert_int_equal(ms_job_list(&jobs, &n, &err), 0);
	assert_int_equal(n, 0);
	ms_job_list_free(jobs, n);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ms_switch_refuse(ids[i], 1000, "x", &err), 0);
	unit_file("jobs/7.json.new", "half");
	unit_file("jobs/08.json", "{}");
	unit_file("jobs/x.json", "{}");
	unit_file("jobs/8.journal", "x");
	assert_int_equal(ms_job_list(&jobs, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(jobs[0].job_id, 9);
	assert_int_equal(jobs[1].job_id, 20);
	assert_int_equal(jobs[2].job_id, 100);
	ms_job_list_free(jobs, n);
}

static void what_is_no_record_is_an_error(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{\"job_id\":5}",
		"{\"job_id\":5,\"state\":\"fine\"}",
		"{\"job_id\":6,\"state\":\"active\"}",
	};
	struct ms_error err;
	struct ms_job job;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		unit_file("jobs/5.json", "%s", bad[i]);
		assert_int_equal(ms_job_get(5, &job, &err), -1);
		assert_has(err.text, "jobs/5.json: expected a job's record");
	}
}

/* One job's record must not keep others from beginning and ending, nor from being looked after. */
static void a_record_that_cannot_be_read_is_one_job_only(void **state)
{
	struct ms_error err;
	struct ms_job *jobs;
	size_t n;

	for (uint32_t id = 6; id <= 8; id++)
		assert_int_equal(ms_switch_refuse(id, 1000, "x", &err), 0);
	unit_file("jobs/7.json", "rubbish");
	if (ms_switch_off(8, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_false(unit_exists("jobs/8.json"));
	assert_int_equal(ms_job_list(&jobs, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(jobs[0].state, MS_JOB_REFUSED);
	assert_int_equal(jobs[1].job_id, 7);
	assert_int_equal(jobs[1].state, MS_JOB_UNREADABLE);
	assert_has(jobs[1].reason, "jobs/7.json: expected a job's record");
	assert_true(hwloc_bitmap_iszero(jobs[1].lwk_cpus));
	assert_in_range(ms_job_age(&jobs[1]), 0, 60);
	ms_job_list_free(jobs, n);
	assert_int_equal(ms_switch_off(7, NULL, &err), 0);
	assert_false(unit_exists("jobs/7.json"));
}

/* A file may say so, but a job that has a state never is in this one. */
static void no_record_says_that_it_cannot_be_read(void **state)
{
	struct ms_error err;
	struct ms_job job;

	unit_file("jobs/5.json", "{\"job_id\":5,\"state\":\"unreadable\"}");
	assert_int_equal(ms_job_get(5, &job, &err), -1);
}

static bool job_is_alive(uint32_t job_id, void *context)
{
	return job_id == *(uint32_t *)context;
}

static void reconciling_forgets_the_dead_only(void **state)
{
	uint32_t alive = 2;
	struct ms_error err;
	struct ms_job job;

	for (uint32_t id = 1; id <= 3; id++)
		assert_int_equal(ms_switch_refuse(id, 1000, "x", &err), 0);
	assert_int_equal(ms_reconcile(job_is_alive, &alive, &err), 0);
	assert_int_equal(ms_job_get(1, &job, &err), 0);
	assert_int_equal(ms_job_get(3, &job, &err), 0);
	assert_int_equal(ms_job_get(2, &job, &err), 1);
	ms_job_release(&job);
}

static int switch_by_hand(struct ms_error *err)
{
	struct journal *journal;
	struct ms_job job;
	int ret;

	if (journal_create(8, 1000, "lwkpart", &journal, err) < 0)
		return -1;
	journal_close(journal);
	fill(&job, 8);
	ret = record_publish(&job, err);
	ms_job_release(&job);
	return ret;
}

/* lwkctl bench has an LWK of which Slurm knows nothing, when slurmd starts. */
static void reconciling_leaves_the_lwk_of_a_process_that_lives(void **state)
{
	uint32_t alive = 0;
	struct ms_error err;
	int64_t when;

	assert_int_equal(switch_by_hand(&err), 0);
	assert_int_equal(ms_reconcile(job_is_alive, &alive, &err), 0);
	assert_true(unit_exists("jobs/8.json") && unit_exists("jobs/8.journal"));
	/* This process is a prolog that still runs, and its job is over. */
	assert_int_equal(ms_switch_announce(8, &when, &err), 0);
	assert_int_equal(ms_reconcile(job_is_alive, &alive, &err), 0);
	assert_false(unit_exists("jobs/8.json") || unit_exists("jobs/8.journal"));

	assert_int_equal(unit_in_child(switch_by_hand), 0);
	assert_int_equal(ms_reconcile(job_is_alive, &alive, &err), 0);
	assert_false(unit_exists("jobs/8.json") || unit_exists("jobs/8.journal"));
}

/* A prolog whose slurmd died waits on, while its job ends. */
static void a_job_that_ends_before_its_switch_is_not_switched(void **state)
{
	struct ms_config config = { .switch_timeout_ms = 1000 };
	struct ms_request request = { .job_id = 5, .uid = 1000 };
	struct ms_error err;
	uint32_t alive = 5;
	struct ms_job job;

	assert_int_equal(ms_switch_announced(5), -1);
	assert_int_equal(ms_switch_announce(5, &request.announced, &err), 0);
	assert_int_equal(ms_switch_announced(5), request.announced);
	assert_int_equal(ms_reconcile(job_is_alive, &alive, &err), 0);
	assert_int_equal(ms_switch_announced(5), request.announced);
	assert_int_equal(ms_job_ended(5, NULL, &err), 0);
	assert_int_equal(ms_switch_announced(5), -1);
	assert_int_equal(ms_switch_on(&config, &request, &err), -1);
	assert_has(err.text, "the job ended before its switch began");
	assert_int_equal(ms_job_get(5, &job, &err), 0);
	/* The job's next run is announced, and the prolog of its former one still waits. */
	request.announced--;
	assert_int_equal(ms_switch_announce(5, &(int64_t){ 0 }, &err), 0);
	assert_int_equal(ms_switch_on(&config, &request, &err), -1);
	assert_int_equal(ms_job_get(5, &job, &err), 0);
	/* slurmd starts after the end of the job. */
	alive = 6;
	assert_int_equal(ms_reconcile(job_is_alive, &alive, &err), 0);
	assert_int_equal(ms_switch_announced(5), -1);
}

/* The switch of this job has only begun. */
static void repairing_leaves_an_announced_switch_alone(void **state)
{
	struct ms_error err;
	int64_t when;

	assert_int_equal(ms_switch_announce(5, &when, &err), 0);
	ms_repair(NULL, NULL, &err);
	assert_int_equal(ms_switch_announced(5), when);
}

static void a_damaged_journal_is_no_success(void **state)
{
	struct ms_error err;
	struct ms_job job;

	unit_file("jobs/6.journal", "rubbish\n");
	assert_int_equal(ms_switch_off(6, NULL, &err), -1);
	assert_has(err.text, "6.journal: line 1 is damaged");
	assert_int_equal(ms_job_get(6, &job, &err), 1);
	assert_int_equal(job.state, MS_JOB_STUCK);
	ms_job_release(&job);
	assert_true(unit_exists("jobs/6.journal"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup, unit_teardown)

/* The file of ended jobs has a line for a job whose instance could not be asked. */
static void ended_jobs(void **state)
{
	struct ms_error err;
	struct ms_job job;
	const char *text;

	for (uint32_t id = 21; id < 23; id++) {
		fill(&job, id);
		assert_int_equal(record_publish(&job, &err), 0);
		ms_job_release(&job);
		assert_int_equal(ms_switch_off(id, NULL, &err), 0);
	}
	text = unit_read("jobs.json");
	assert_has(text, "\"job_id\":21,");
	assert_has(text, "\"largest_run\":549755813888,");
	assert_has(text, "\"switched_off\":true");
	assert_has(strchr(text, '\n'), "\"job_id\":22,");
	assert_int_equal(text[strlen(text) - 1], '\n');
}

/* The line has the sums of the job's steps with MPI, whatever a user's numbers and names are. */
static void ended_mpi_jobs(void **state)
{
	struct ms_mpi step = { .steps = 1,
			       .ranks = 2,
			       .ns = 4000000000,
			       .mpi_ns = 1000000000,
			       .messages = 7,
			       .operations = 3,
			       .bytes = 1000,
			       .file = "/a/1.json" };
	struct ms_error err;
	struct ms_job job;
	const char *text;

	/* A job without an LWK has no line, and leaves nothing. */
	assert_int_equal(ms_job_add_mpi(30, &step, &err), 0);
	assert_false(unit_exists("jobs/30.mpi"));
	fill(&job, 31);
	assert_int_equal(record_publish(&job, &err), 0);
	assert_int_equal(ms_job_add_mpi(31, &step, &err), 0);
	strcpy(step.file, "/tmp/ a\"b\n\\.json");
	assert_int_equal(ms_job_add_mpi(31, &step, &err), 0);
	assert_int_equal(ms_switch_off(31, NULL, &err), 0);
	ms_job_release(&job);
	assert_false(unit_exists("jobs/31.mpi"));
	text = unit_read("jobs.json");
	assert_has(text, "\"mpi\":{\"steps\":2,\"ranks\":4,\"seconds\":8.0,\"mpi_share\":0.25,"
			 "\"messages\":14,\"operations\":6,\"bytes\":2000,"
			 "\"file\":\"/tmp/ a\\\"b?\\\\.json\"}");
	/* Numbers have a bound; a damaged file gives no member. */
	fill(&job, 32);
	assert_int_equal(record_publish(&job, &err), 0);
	step.bytes = UINT64_MAX;
	memset(step.file, 'x', sizeof(step.file) - 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ms_job_add_mpi(32, &step, &err), 0);
	assert_int_equal(ms_switch_off(32, NULL, &err), 0);
	ms_job_release(&job);
	assert_has(unit_read("jobs.json"), "\"bytes\":9007199254740992,\"file\":\"xxx");
	fill(&job, 33);
	assert_int_equal(record_publish(&job, &err), 0);
	unit_file("jobs/33.mpi", "1 2 x");
	assert_int_equal(ms_switch_off(33, NULL, &err), 0);
	ms_job_release(&job);
	text = unit_read("jobs.json");
	assert_has(text, "\"job_id\":33,");
	assert_null(strstr(strstr(text, "\"job_id\":33,"), "\"mpi\""));
	/* Numbers of a damaged file do not count. */
	fill(&job, 34);
	assert_int_equal(record_publish(&job, &err), 0);
	unit_file("jobs/34.mpi", "40 41 x");
	assert_int_equal(ms_job_add_mpi(34, &step, &err), 0);
	assert_has(unit_read("jobs/34.mpi"), "1 2 4000000000 ");
	assert_int_equal(ms_switch_off(34, NULL, &err), 0);
	ms_job_release(&job);
}

/* A line that cannot be written whole is not written at all, and the job ends all the same. */
static void no_room_for_a_record(void **state)
{
	struct rlimit before, limit;
	struct ms_error err;
	struct ms_job job;
	int dir;

	unit_file("jobs.json", "{}\n");
	fill(&job, 23);
	assert_int_equal(record_publish(&job, &err), 0);
	ms_job_release(&job);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill(&job, 25);
	assert_int_equal(record_publish(&job, &err), -1);
	ms_job_release(&job);
	assert_false(unit_exists("jobs/25.json.new"));
	assert_int_equal(ms_switch_off(23, NULL, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_string_equal(unit_read("jobs.json"), "{}\n");
	/* The library follows no link that another user made. */
	assert_int_equal(remove(unit_file("jobs.json", "-")), 0);
	unit_file("elsewhere", "mine");
	dir = open(unit_dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(symlinkat("elsewhere", dir, "jobs.json"), 0);
	close(dir);
	fill(&job, 24);
	assert_int_equal(record_publish(&job, &err), 0);
	ms_job_release(&job);
	/* A process that was killed while it wrote the record has left a part. */
	unit_file("jobs/24.json.new", "{");
	assert_int_equal(ms_switch_off(24, NULL, &err), 0);
	assert_false(unit_exists("jobs/24.json.new"));
	assert_string_equal(unit_read("elsewhere"), "mine");
}

/* The disk or the server of the file hangs: the lock must not be held for ever. */
static void a_log_that_hangs(void **state)
{
	unsigned before = report_ms;
	struct ms_error err;
	struct ms_job job;
	char path[128];
	int lock;

	snprintf(path, sizeof(path), "%s/jobs.json", unit_dir);
	/* Opening a FIFO waits for somebody who reads it. */
	assert_int_equal(mkfifo(path, 0600), 0);
	fill(&job, 26);
	assert_int_equal(record_publish(&job, &err), 0);
	ms_job_release(&job);
	report_ms = 100;
	alarm(30);
	assert_int_equal(ms_switch_off(26, NULL, &err), 0);
	alarm(0);
	report_ms = before;
	assert_false(unit_exists("jobs/26.json"));
	lock = state_lock(0, &err);
	assert_true(lock >= 0);
	close(lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(round_trip),
		TEST(setting_the_clock_makes_no_job_older),
		TEST(refusing_needs_no_configuration),
		TEST(jobs_are_listed_by_number),
		TEST(what_is_no_record_is_an_error),
		TEST(a_record_that_cannot_be_read_is_one_job_only),
		TEST(no_record_says_that_it_cannot_be_read),
		TEST(reconciling_forgets_the_dead_only),
		TEST(reconciling_leaves_the_lwk_of_a_process_that_lives),
		TEST(a_job_that_ends_before_its_switch_is_not_switched),
		TEST(repairing_leaves_an_announced_switch_alone),
		TEST(a_damaged_journal_is_no_success),
		cmocka_unit_test_setup_teardown(ended_jobs, unit_setup, unit_teardown),
		cmocka_unit_test_setup_teardown(ended_mpi_jobs, unit_setup, unit_teardown),
		cmocka_unit_test_setup_teardown(no_room_for_a_record, unit_setup, unit_teardown),
		TEST(a_log_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
