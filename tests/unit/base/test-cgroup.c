// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests cgroups: versions, hierarchies, and the jobs of processes, on files like the kernel's. */
#include "unit/unit.h"

#include <errno.h>

#include "base/cgroup.h"

#define PID 4711
#define PROCESS "proc/4711/cgroup"
#define MOUNTS "proc/self/mounts"
#define CPUSET "cgroup /c/cpuset cgroup rw,cpuset,noprefix 0 0\n"
#define MEMORY "cgroup /c/memory cgroup rw,memory 0 0\n"
#define UNIFIED "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n"
#define OTHERS "proc /proc proc rw 0 0\ntmpfs /tmp tmpfs rw,cpuset 0 0\n"

static void version_2_is_told_by_its_controllers(void **state)
{
	assert_false(cgroup2_is_used());
	unit_file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n");
	assert_true(cgroup2_is_used());
}

static void a_controller_s_hierarchy_is_found(void **state)
{
	static const struct {
		const char *mounts, *mount;
		bool version_2;
	} cases[] = {
		{ OTHERS MEMORY CPUSET, "/c/cpuset", false },
		{ OTHERS UNIFIED, "/sys/fs/cgroup", true },
		{ UNIFIED CPUSET, "/c/cpuset", false },
		{ CPUSET UNIFIED, "/c/cpuset", false },
		{ UNIFIED "cgroup2 /second cgroup2 rw 0 0\n", "/sys/fs/cgroup", true },
		{ OTHERS MEMORY, NULL, false },
		{ "", NULL, false },
	};
	struct hierarchy found;

	assert_int_equal(hierarchy_find("cpuset", &found), -ENOENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unit_file(MOUNTS, "%s", cases[i].mounts);
		assert_int_equal(hierarchy_find("cpuset", &found), cases[i].mount ? 0 : -ENOENT);
		if (!cases[i].mount)
			continue;
		assert_string_equal(found.mount, cases[i].mount);
		assert_int_equal(found.version_2, cases[i].version_2);
	}
}

static void a_process_s_cgroup_is_found(void **state)
{
	const struct hierarchy cpuset = { "/c/cpuset", false, "cpuset" };
	const struct hierarchy unified = { "/sys/fs/cgroup", true, "cpuset" };
	char path[64], little[16];

	assert_int_equal(hierarchy_path_of_process(&cpuset, PID, path, sizeof(path)), -ENOENT);
	unit_file(PROCESS, "9:memory:/m\n8:cpu,cpuset:/a:b/c\n0::/scope/d\n");
	assert_int_equal(hierarchy_path_of_process(&cpuset, PID, path, sizeof(path)), 0);
	assert_string_equal(path, "/c/cpuset/a:b/c");
	assert_int_equal(hierarchy_path_of_process(&unified, PID, path, sizeof(path)), 0);
	assert_string_equal(path, "/sys/fs/cgroup/scope/d");
	assert_int_equal(hierarchy_path_of_process(&unified, PID, little, sizeof(little)),
			 -ENAMETOOLONG);
	unit_file(PROCESS, "9:memory:/m\n1:name=cpuset:/n\n");
	assert_int_equal(hierarchy_path_of_process(&cpuset, PID, path, sizeof(path)), -ENOENT);
	assert_int_equal(hierarchy_path_of_process(&unified, PID, path, sizeof(path)), -ENOENT);
}

static void a_process_s_job_is_told_by_its_cgroups(void **state)
{
	static const struct {
		const char *cgroups;
		uint32_t job;
	} cases[] = {
		{ "4:freezer:/slurm/uid_1000/job_17/step_0\n0::/x\n", 17 },
		{ "0::/system.slice/slurmstepd.scope/job_17/step_0/user/job_18\n", 17 },
		{ "0::/system.slice/slurmstepd.scope/job_17\n", 17 },
		{ "3:cpuset:/slurm/uid_1000\n2:freezer:/slurm_n1/uid_1000/job_17/step_0\n", 17 },
		{ "0::/hpc.slice/slurmstepd.scope/job_17/step_extern/user/task_special\n", 17 },
		{ "0::/user.slice/user-1.slice/job_18\n", 0 },
		{ "0::/user.slice/job_17x/job_\n", 0 },
		{ "0::/init.scope\n", 0 },
	};

	assert_int_equal(job_of_process(PID), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unit_file(PROCESS, "%s", cases[i].cgroups);
		assert_int_equal(job_of_process(PID), cases[i].job);
	}
}

/* The trees of cgroups that Slurm makes, each with a task of job 17. */
static const struct layout {
	const char *mounts, *controller, *path;
	const char *parent, *job, *step;
} layouts[] = {
	/* 20.11 to 22.05, version 1 */
	{ CPUSET, "9:cpuset:", "/slurm/uid_1000/job_17/step_0/task_1", "/c/cpuset/slurm/uid_1000",
	  "/job_17", "/step_0" },
	/* the same with MULTIPLE_SLURMD, as Debian builds it */
	{ CPUSET, "9:cpuset:", "/slurm_n1/uid_1000/job_17/step_extern/task_special",
	  "/c/cpuset/slurm_n1/uid_1000", "/job_17", "/step_extern" },
	/* 22.05 to 25.05, version 2 */
	{ UNIFIED, "0::", "/system.slice/n1_slurmstepd.scope/job_17/step_batch/user/task_0",
	  "/sys/fs/cgroup/system.slice/n1_slurmstepd.scope", "/job_17", "/step_batch" },
	/* 25.11 with CgroupSlice */
	{ UNIFIED, "0::", "/site.slice/site-hpc.slice/slurmstepd.scope/job_17/step_0/user/task_0",
	  "/sys/fs/cgroup/site.slice/site-hpc.slice/slurmstepd.scope", "/job_17", "/step_0" },
	/* 26.05 */
	{ UNIFIED, "0::", "/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/user/task_0",
	  "/sys/fs/cgroup/system.slice/slurmstepd.scope", "/sEKNKTV3WPV500", "/step_0" },
};

static int keep(const struct job_cgroup *cgroup, void *context)
{
	strcat(context, cgroup->path);
	return 0;
}

static void check_layout(const struct layout *layout)
{
	char job[256], path[2 * PATH_MAX], of_job[256] = "", of_all[256] = "", of_other[256] = "";
	struct process_cgroup found;
	struct hierarchy hierarchy;

	snprintf(job, sizeof(job), "%s%s", layout->parent, layout->job);
	unit_file(MOUNTS, OTHERS "%s", layout->mounts);
	unit_file(PROCESS, "%s%s\n", layout->controller, layout->path);
	snprintf(path, sizeof(path), "%s/step_extern/slurm/cgroup.procs", job + 1);
	unit_file(path, "4712\n4713\n");
	assert_int_equal(hierarchy_find("cpuset", &hierarchy), 0);
	assert_int_equal(process_cgroup_find(&hierarchy, PID, 17, &found), 0);
	snprintf(path, sizeof(path), "%s%s", hierarchy.mount, layout->path);
	assert_string_equal(found.path, path);
	assert_int_equal(found.parent, strlen(layout->parent));
	assert_int_equal(found.job, strlen(job));
	assert_int_equal(found.step, strlen(job) + strlen(layout->step));

	assert_int_equal(job_of_process(PID), 17);
	assert_int_equal(job_cgroups_each(17, keep, of_job), 0);
	assert_string_equal(of_job, job);
	assert_int_equal(job_cgroups_each(ALL_JOBS, keep, of_all), 0);
	assert_string_equal(of_all, job);
	assert_int_equal(job_cgroups_each(18, keep, of_other), 0);
	assert_string_equal(of_other, "");
}

static void a_job_is_found_in_every_layout(void **state)
{
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		unit_setup_root(state);
		unit_file("proc/4712/cmdline", "slurmstepd: [17.extern] ");
		check_layout(&layouts[i]);
		unit_teardown_root(state);
	}
}

static void cgroups_that_look_like_a_job_s_are_none(void **state)
{
	static const char *const places[] = {
		/* of users, in what systemd gives them */
		"0::/user.slice/user-1000.slice/job_17/step_0",
		/* SLUIDs are of other letters, not longer, and only below slurmstepd's scope */
		"0::/system.slice/slurmstepd.scope/sEKNKTV3WPVI00/step_0",
		"0::/system.slice/slurmstepd.scope/sEKNKTV3WPV5000/step_0",
		"0::/system.slice/sEKNKTV3WPV500/step_0",
		"0::/system.slice/slurmstepd.scope/job_18/step_0/user/task_0/job_17",
		"0::/system.slice/slurmstepd.scope/slurmd",
		"0::/system.slice/slurmstepd.scope",
		"0::/",
	};
	const struct hierarchy unified = { "/sys/fs/cgroup", true, "cpuset" };
	struct process_cgroup found;
	char text[256] = "";

	assert_int_equal(process_cgroup_find(&unified, PID, 17, &found), -ENOENT);
	assert_string_equal(found.path, "");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		unit_file(PROCESS, "%s\n", places[i]);
		assert_int_equal(process_cgroup_find(&unified, PID, 17, &found), -ENOENT);
		assert_has(found.path, "/sys/fs/cgroup/");
		assert_int_not_equal(job_of_process(PID), 17);
	}

	/* A SLUID without slurmstepd has no number. */
	unit_file(MOUNTS, UNIFIED);
	unit_file("sys/fs/cgroup/system.slice/slurmstepd.scope/sEKNKTV3WPV500/cgroup.procs", "\n");
	unit_file(PROCESS, "0::/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0\n");
	assert_int_equal(job_of_process(PID), 0);
	assert_int_equal(job_cgroups_each(ALL_JOBS, keep, text), 0);
	assert_string_equal(text, "");
}

static int list(const struct job_cgroup *cgroup, void *context)
{
	char *text = context;

	sprintf(text + strlen(text), "%s of %s%s%s; ", cgroup->path, cgroup->mount,
		cgroup->version_2 ? " v2" : "", cgroup->has_cpusets ? " cpusets" : "");
	return 0;
}

static int stop_at_once(const struct job_cgroup *cgroup, void *context)
{
	++*(int *)context;
	return -EBUSY;
}

static void a_job_s_cgroups_are_root_s_in_every_hierarchy(void **state)
{
	char text[1024] = "";
	int calls = 0;

	if (geteuid() != 0)
		skip();
	assert_int_equal(job_cgroups_each(17, list, text), ENOENT);
	unit_file(MOUNTS, OTHERS MEMORY CPUSET UNIFIED);
	unit_file("c/memory/slurm_n1/uid_1000/job_17/tasks", "\n");
	unit_file("c/cpuset/slurm/uid_1000/job_17/tasks", "\n");
	unit_file("c/cpuset/slurm/uid_1000/job_171/tasks", "\n");
	unit_file("c/cpuset/slurm/uid_1000/job_x/tasks", "\n");
	unit_file("sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_17/cgroup.procs", "\n");
	assert_int_equal(job_cgroups_each(17, list, text), 0);
	assert_string_equal(text, "/c/memory/slurm_n1/uid_1000/job_17 of /c/memory; "
				  "/c/cpuset/slurm/uid_1000/job_17 of /c/cpuset cpusets; "
				  "/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_17 of "
				  "/sys/fs/cgroup v2 cpusets; ");
	assert_int_equal(job_cgroups_each(17, stop_at_once, &calls), -EBUSY);
	assert_int_equal(calls, 1);

	unit_file(MOUNTS, CPUSET);
	*text = '\0';
	assert_int_equal(job_cgroups_each(ALL_JOBS, list, text), 0);
	assert_has(text, "job_17 ");
	assert_has(text, "job_171 ");
	assert_null(strstr(text, "job_x"));

	*text = '\0';
	snprintf(text, sizeof(text), "%s/c/cpuset/slurm/uid_1000/job_17", unit_dir);
	assert_int_equal(chown(text, 1000, 1000), 0);
	*text = '\0';
	assert_int_equal(job_cgroups_each(17, list, text), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(version_2_is_told_by_its_controllers,
						unit_setup_root, unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_controller_s_hierarchy_is_found, unit_setup_root,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_process_s_cgroup_is_found, unit_setup_root,
						unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_process_s_job_is_told_by_its_cgroups,
						unit_setup_root, unit_teardown_root),
		cmocka_unit_test(a_job_is_found_in_every_layout),
		cmocka_unit_test_setup_teardown(cgroups_that_look_like_a_job_s_are_none,
						unit_setup_root, unit_teardown_root),
		cmocka_unit_test_setup_teardown(a_job_s_cgroups_are_root_s_in_every_hierarchy,
						unit_setup_root, unit_teardown_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
