// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests taking cgroups that a user has, on directories like the kernel's. */
#include "unit/unit.h"

#include "cgroups.c"

#define USER 1000
#define LONG 250
#define CHAIN 17

/* The functions under test do not call these. */
void slurm_error(const char *format, ...)
{
}

void slurm_info(const char *format, ...)
{
}

/* Makes a cgroup whose files are that user's, as the kernel does for who makes it. */
static void make_cgroup(const char *name, uid_t owner)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/" PROCESSES, name);
	assert_int_equal(chown(unit_file(path, "\n"), owner, owner), 0);
	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	assert_int_equal(chown(path, USER, USER), 0);
}

/* Makes directories in each other. An empty one is removed like a cgroup; it cannot have the kernel's files. */
static void make_chain(const char *name)
{
	char path[128], link[LONG + 1];
	int dir, next;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	dir = open_directory(AT_FDCWD, path);
	memset(link, 'x', LONG);
	link[LONG] = '\0';
	for (int i = 0; i < CHAIN; i++) {
		assert_int_equal(mkdirat(dir, link, 0755), 0);
		/* One beside it. */
		assert_int_equal(mkdirat(dir, "beside", 0755), 0);
		next = open_directory(dir, link);
		assert_true(next >= 0);
		assert_int_equal(fchown(next, USER, USER), 0);
		close(dir);
		dir = next;
	}
	close(dir);
}

static uid_t owner_of(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_uid;
}

static int entries_of(const char *name)
{
	char path[128];
	DIR *entries;
	int n = 0;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	entries = opendir(path);
	assert_non_null(entries);
	while (readdir(entries))
		n++;
	closedir(entries);
	return n - 2;
}

static void walk_job(struct walk *walk)
{
	char path[128];

	walk->deadline = clock_ms() + 60000;
	snprintf(path, sizeof(path), "%s/job_7", unit_dir);
	take_cgroup(&(struct job_cgroup){ .path = path }, walk);
}

static void what_the_user_has_made_goes_and_the_rest_is_root_s(void **state)
{
	struct walk walk = { 0 };

	if (geteuid() != 0)
		skip();
	make_cgroup("job_7", 0);
	make_cgroup("job_7/step_0", 0);
	make_cgroup("job_7/step_0/task_0", 0);
	make_chain("job_7/step_0");
	make_chain("job_7/step_0/task_0");
	walk_job(&walk);
	assert_int_equal(walk.error, 0);
	assert_int_equal(owner_of("job_7/step_0"), 0);
	assert_int_equal(owner_of("job_7/step_0/task_0"), 0);
	assert_int_equal(entries_of("job_7/step_0"), 2);
	assert_int_equal(entries_of("job_7/step_0/task_0"), 1);
}

static void one_that_stays_keeps_no_other(void **state)
{
	struct walk walk = { 0 };

	if (geteuid() != 0)
		skip();
	make_cgroup("job_7", 0);
	make_cgroup("job_7/step_0", 0);
	/* rmdir(2) refuses these, as it does when processes are in a cgroup. */
	make_cgroup("job_7/step_0/busy", USER);
	make_cgroup("job_7/busy/below", USER);
	make_cgroup("job_7/busy", USER);
	make_chain("job_7/step_0");
	walk_job(&walk);
	assert_int_equal(walk.error, -ENOTEMPTY);
	assert_int_equal(entries_of("job_7/step_0"), 2);
	/* Nobody but root makes others there. */
	assert_int_equal(owner_of("job_7/step_0/busy"), 0);
	assert_int_equal(owner_of("job_7/busy/below"), 0);
}

static void an_ended_job_s_are_removed(void **state)
{
	struct walk walk = { .remove = true };
	char path[128];

	if (geteuid() != 0)
		skip();
	snprintf(path, sizeof(path), "%s/job_7", unit_dir);
	assert_int_equal(mkdir(path, 0755), 0);
	make_chain("job_7");
	walk_job(&walk);
	assert_int_equal(walk.error, 0);
	assert_false(unit_exists("job_7"));
}

static void cgroups_in_each_other_beyond_slurm_s_are_told(void **state)
{
	struct walk walk = { 0 };

	if (geteuid() != 0)
		skip();
	make_cgroup("job_7/a/b/c/d/e", 0);
	make_cgroup("job_7/a/b/c/d", 0);
	make_cgroup("job_7/a/b/c", 0);
	make_cgroup("job_7/a/b", 0);
	make_cgroup("job_7/a", 0);
	make_cgroup("job_7", 0);
	walk_job(&walk);
	assert_int_equal(walk.error, -ENAMETOOLONG);
	assert_int_equal(owner_of("job_7/a/b/c/d"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_the_user_has_made_goes_and_the_rest_is_root_s,
						unit_setup, unit_teardown),
		cmocka_unit_test_setup_teardown(one_that_stays_keeps_no_other, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(an_ended_job_s_are_removed, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(cgroups_in_each_other_beyond_slurm_s_are_told,
						unit_setup, unit_teardown),
	};

	return cmocka_run_group_tests_name("cgroups", tests, NULL, NULL);
}
