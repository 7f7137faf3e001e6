// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what 'lwkctl check' finds in Slurm's settings and of its jobs: Slurm's answers of a node where
 * all is well, with one thing changed at a time, and jobs that are over.
 */
#include "unit/node/checked.h"

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"
#include "store/journal.h"
#include "store/record.h"

static void check_slurm(struct checking *checking)
{
	check_plugstack(checking);
	check_settings(checking);
	check_releases(checking);
	check_slurm_node(checking);
}

/* Looks at Slurm's answers with 'old' replaced in whichever of them it is. */
static void look(const char *old, const char *new)
{
	struct checking checking = {
		.hear = hear,
		.config = &config,
		.slurm = changed(good_slurm, old, new),
		.node = changed(good_node, old, new),
		.partitions = changed(good_partitions, old, new),
		.json = strdup("{"),
	};

	assert_true(!old || strstr(good_slurm, old) || strstr(good_node, old) ||
		    strstr(good_partitions, old));
	memset(&heard, 0, sizeof(heard));
	check_slurm(&checking);
	free(checking.slurm);
	free(checking.node);
	free(checking.partitions);
	free(checking.json);
}

static void all_is_well(void **state)
{
	look(NULL, NULL);
	assert_string_equal(heard.problems, "");
	assert_string_equal(heard.notes, "");
	assert_true(heard.n_fine > 15);
}

static void each_wrong_setting_is_one_finding(void **state)
{
	static const struct {
		bool problem;
		const char *old, *new, *found, *to_do;
	} cases[] = {
		{ true, "Alloc,Contain", "Contain", "PrologFlags=Contain lacks Alloc",
		  "PrologFlags=Alloc,Contain" },
		{ true, "Alloc,Contain", "Alloc,Containers", "lacks Contain",
		  "PrologFlags=Alloc,Contain" },
		{ true, "Alloc,Contain", "X11,Alloc", "lacks Contain",
		  "PrologFlags=Alloc,Contain,X11" },
		{ true, "config_overrides", "(null)", "would be drained",
		  "write SlurmdParameters=config_overrides in slurm.conf" },
		{ false, "= none", "= (null)", "TaskPluginParam=(null) lacks none",
		  "TaskPluginParam=none" },
		{ false, "task/affinity,task/cgroup", "task/affinity", "lacks task/cgroup",
		  "TaskPlugin=task/affinity,task/cgroup" },
		{ false, "proctrack/cgroup", "proctrack/linuxproc", "proxies of its LWK too",
		  "ProctrackType=proctrack/cgroup" },
		{ false, "ConstrainCores          = yes", "ConstrainCores          = no",
		  "other jobs' CPUs", "cgroup.conf" },
		{ false, "ConstrainRAMSpace       = yes", "ConstrainRAMSpace       = no",
		  "more memory", "cgroup.conf" },
		{ true, "PreemptMode             = OFF", "PreemptMode             = SUSPEND",
		  "while it is suspended", "PreemptMode=REQUEUE" },
		{ true, "PreemptMode             = OFF", "PreemptMode             = GANG",
		  "take turns", "PreemptMode=REQUEUE" },
		{ true, "job_container/lwk", "job_container/tmpfs", "is not configured",
		  "job_container/lwk" },
		{ true, "job_container/lwk", "job_container/lwk,tmpfs", "private view", "last" },
		{ true, "CR_CORE_MEMORY", "CR_CORE", "no memory to jobs", "CR_Core_Memory" },
		{ false, "120 sec", "10 sec", "BatchStartTimeout=10 is not more than",
		  "BatchStartTimeout=120" },
		{ false, "65534", "60", "PrologEpilogTimeout=60 is not more than",
		  "PrologEpilogTimeout=120" },
		{ false, "PrologEpilogTimeout     = 65534",
		  "PrologTimeout = 60\nEpilogTimeout = 65534", "PrologTimeout=60 is not more than",
		  "PrologTimeout=120" },
		{ false, "PrologEpilogTimeout     = 65534",
		  "EpilogTimeout = 60\nPrologTimeout = (null)", "EpilogTimeout=60 is not more than",
		  "EpilogTimeout=120" },
		{ false, "HealthCheckProgram      = (null)",
		  "HealthCheckProgram      = /usr/sbin/nhc", "/usr/sbin/nhc must not drain",
		  "lwkctl status" },
		{ true, "OverSubscribe=NO", "OverSubscribe=FORCE:2",
		  "partition main has OverSubscribe=FORCE:2", "OverSubscribe=NO" },
		{ false, "OverSubscribe=NO", "OverSubscribe=YES:4", "jobs that ask for it",
		  "OverSubscribe=NO" },
		{ true, "OverSubscribe=EXCLUSIVE PreemptMode=OFF",
		  "OverSubscribe=EXCLUSIVE PreemptMode=SUSPEND",
		  "partition more has PreemptMode=SUSPEND", "PreemptMode=REQUEUE" },
		{ false, "CPUSpecList=0 ", "CPUSpecList=7 ", "CPU 0 can never go",
		  "CoreSpecCount" },
		{ false, "SLURM_VERSION           = 22.05.8", "SLURM_VERSION           = 26.05.0",
		  "slurmctld is 26.05.0, slurmd still 22.05.8", "end the upgrade" },
		{ true, "Version=22.05.8", "Version=24.11.5",
		  "slurmd is 24.11.5, newer than slurmctld, 22.05.8", "upgrade slurmctld" },
		{ false, "RealMemory=2688", "RealMemory=2929",
		  "promises jobs 2929 MB, but Linux can spare at most 2801 MB", "RealMemory=2801" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		look(cases[i].old, cases[i].new);
		assert_has(cases[i].problem ? heard.problems : heard.notes, cases[i].found);
		assert_has(cases[i].problem ? heard.problems : heard.notes, cases[i].to_do);
		assert_int_equal(heard.n_problems, cases[i].problem);
	}
}

static void settings_that_do_no_harm(void **state)
{
	static const char *const cases[][2] = {
		{ "job_container/lwk", "job_container/tmpfs,lwk" },
		{ "JobContainerType        = job_container/lwk", "NamespaceType = namespace/lwk" },
		{ "OverSubscribe=NO", "OverSubscribe=FORCE:1" },
		{ "PreemptMode             = OFF", "PreemptMode             = REQUEUE" },
		{ "CR_CORE_MEMORY", "CR_CPU_MEMORY" }, /* one thread a core */
		{ "RealMemory=2688", "RealMemory=2929 MemSpecLimit=200" },
		{ "PrologEpilogTimeout     = 65534", "PrologEpilogTimeout     = (null)" },
		{ "HealthCheckProgram      = (null)",
		  "HealthCheckProgram      = /usr/lib/slurm-lwk/lwk-feature" },
		{ "Alloc,Contain", "Contain,NoHold,alloc" },
		{ "Version=22.05.8", "Version=22.05.9" },
		{ "Version=22.05.8", "Version=" }, /* not registered yet */
		{ "SLURM_VERSION           = 22.05.8", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		look(cases[i][0], cases[i][1]);
		assert_string_equal(heard.problems, "");
		assert_string_equal(heard.notes, "");
	}
}

static void keep_plugstack(const struct ms_finding *finding, void *context)
{
	*(struct ms_finding *)context = *finding;
}

static void plugstack_is_beside_slurm_conf(void **state)
{
	struct ms_finding found;
	struct checking checking = { .hear = keep_plugstack, .context = &found };
	char *slurm;

	assert_true(asprintf(&slurm, "%sSLURM_CONF = %s/slurm.conf\n", good_slurm, unit_dir) > 0);
	checking.slurm = slurm;
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_PROBLEM);
	unit_file("plugstack.conf", "required lwk.so\n");
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_FINE);
	free(slurm);
}

static void plugstack_of_a_configless_node(void **state)
{
	struct ms_finding found;
	struct checking checking = { .hear = keep_plugstack, .context = &found };
	char *slurm;

	files_root = unit_dir;
	assert_true(asprintf(&slurm, "%sSLURM_CONF = %s/controllers/slurm.conf\n", good_slurm,
			     unit_dir) > 0);
	checking.slurm = slurm;
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_PROBLEM);
	unit_file("run/slurm/conf/plugstack.conf", "required lwk.so\n");
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_FINE);
	/* A file of the node's own goes first. */
	unit_file("controllers/plugstack.conf", "optional lwk.so\n");
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_PROBLEM);
	files_root = "";
	free(slurm);
}

static void half_cores(void **state)
{
	look("ThreadsPerCore=1", "ThreadsPerCore=2");
	assert_int_equal(heard.n_problems + heard.n_notes, 0);
	struct checking checking = {
		.hear = hear,
		.config = &config,
		.slurm = changed(good_slurm, "CR_CORE_MEMORY", "CR_CPU_MEMORY"),
		.node = changed(good_node, "ThreadsPerCore=1", "ThreadsPerCore=2"),
	};
	check_slurm(&checking);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "half a core");
	free(checking.slurm);
	free(checking.node);
}

static void no_assistant_cpu(void **state)
{
	config.linux_cpus = 0;
	look(NULL, NULL);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "with LinuxCpus=0: task/affinity starts no task");
	look("task/affinity,task/cgroup", "task/cgroup");
	assert_string_equal(heard.problems, "");
	hwloc_bitmap_set(config.os_cpus, 4);
	look("task/affinity,task/cgroup", "task/cgroup");
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "runs on CPUs 0,4, but Slurm keeps only CPUs 0");
}

static void os_cpus_and_the_spec_list_differ(void **state)
{
	look("CPUSpecList=0 ", "CPUSpecList=0-1 ");
	assert_int_equal(heard.n_problems, 0);
	assert_has(heard.notes, "Slurm keeps CPUs 0-1 for the system, lwk.conf CPUs 0");
}

static void slurm_does_not_answer(void **state)
{
	struct checking checking = { .hear = hear, .config = &config };

	memset(&heard, 0, sizeof(heard));
	check_slurm(&checking);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "start slurmctld");
}

static void a_configuration_that_is_not_valid(void **state)
{
	struct checking checking = {
		.hear = hear,
		.slurm = changed(good_slurm, NULL, NULL),
		.node = changed(good_node, NULL, NULL),
	};

	memset(&heard, 0, sizeof(heard));
	check_slurm(&checking);
	assert_int_equal(heard.n_problems + heard.n_notes, 0);
	free(checking.slurm);
	free(checking.node);
}

/* ---- jobs that are over ---- */

static void make_active(uint32_t job_id)
{
	struct ms_job job = { .job_id = job_id,
			      .uid = 1000,
			      .state = MS_JOB_ACTIVE,
			      .instance = 0,
			      .since_boot = job_id };
	struct ms_error err;

	job.lwk_cpus = hwloc_bitmap_alloc();
	job.linux_cpus = hwloc_bitmap_alloc();
	job.nodes = hwloc_bitmap_alloc();
	assert_int_equal(record_publish(&job, &err), 0);
	ms_job_release(&job);
}

/* As Slurm's prolog does. */
static void make_announced(uint32_t job_id)
{
	struct ms_error err;
	int64_t when;

	assert_int_equal(ms_switch_announce(job_id, &when, &err), 0);
	make_active(job_id);
}

static const char *make_program(const char *name, const char *script)
{
	static char paths[2][512];
	char *path = paths[strcmp(name, "squeue") == 0];

	snprintf(path, sizeof(paths[0]), "%s", unit_file(name, "#!/bin/sh\n%s", script));
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/*
 * Has a squeue that knows jobs as slurmctld does; 'before' is done when it is asked. Has a scontrol that
 * notes how it drains the node, and knows jobs with a name that looks like a state.
 */
static void make_slurm(const char *before)
{
	char script[2048];

	snprintf(script, sizeof(script),
		 "if [ $1 = update ]; then echo \"$*\" >>%s/drained; exit; fi\n"
		 "echo \"JobId=$5 JobName=x JobState=COMPLETED UserId=1 JobState=RUNNING\"\n",
		 unit_dir);
	scontrol_path = make_program("scontrol", script);
	snprintf(
		script, sizeof(script),
		"%s\n"
		"[ \"$*\" = \"--noheader --all --states=all --format=%%A %%T --jobs $6\" ] || exit 2\n"
		"case $6 in\n"
		"1) echo '1 RUNNING' ;;\n"
		"2) echo '2 COMPLETED' ;;\n"
		"3) echo '3 COMPLETING' ;;\n"
		"4) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1 ;;\n"
		"5) echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1 ;;\n"
		"6) echo '16 RUNNING'; echo '6 PENDING' ;;\n"
		"7) echo '17 COMPLETED' ;;\n"
		"8) echo '8 SOMETHING_NEW' ;;\n"
		"esac\n",
		before);
	squeue_path = make_program("squeue", script);
}

static void look_for_over(void)
{
	struct checking checking = { .hear = hear, .slurm = strdup(good_slurm) };

	memset(&heard, 0, sizeof(heard));
	check_over(&checking);
	free(checking.slurm);
}

static char said[4096];

static void note_said(const char *line, void *context)
{
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

/* Only what slurmctld says for sure makes a job over. */
static void jobs_that_are_over_are_found_and_repaired(void **state)
{
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	make_slurm("");
	for (uint32_t id = 1; id <= 8; id++)
		make_announced(id);
	look_for_over();
	assert_int_equal(heard.n_problems, 3);
	assert_has(heard.problems, "jobs: job 2 is over");
	assert_has(heard.problems, "job 4 is over");
	assert_has(heard.problems, "job 6 is over");
	assert_has(heard.problems, "run 'lwkctl check --repair'");
	*said = '\0';
	if (ms_repair_over(note_said, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_has(said, "job 2, which is over:");
	for (uint32_t id = 1; id <= 8; id++) {
		char name[32];

		snprintf(name, sizeof(name), "jobs/%u.json", id);
		assert_int_equal(unit_exists(name), id != 2 && id != 4 && id != 6);
	}
	assert_false(unit_exists("drained"));
	look_for_over();
	assert_int_equal(heard.n_problems, 0);
}

/* The job is requeued, and runs again, just after slurmctld has answered. */
static void a_job_that_runs_again_is_left_alone(void **state)
{
	char again[256];
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	make_announced(2);
	snprintf(again, sizeof(again),
		 "sed -i 's/\"since_boot\":2/\"since_boot\":9/' %s/jobs/2.json", unit_dir);
	make_slurm(again);
	*said = '\0';
	assert_int_equal(ms_repair_over(note_said, NULL, &err), 0);
	assert_string_equal(said, "");
	assert_has(unit_read("jobs/2.json"), "\"since_boot\":9");
}

static void a_node_that_cannot_be_repaired_is_drained(void **state)
{
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	make_slurm("");
	make_announced(2);
	unit_file("jobs/2.journal", "rubbish\n");
	assert_int_equal(ms_repair_over(note_said, NULL, &err), -1);
	assert_has(err.text, "2.journal: line 1 is damaged");
	assert_has(err.text, "; this node is drained");
	assert_has(unit_read("drained"), "update NodeName=");
	assert_has(unit_read("drained"), " State=DRAIN Reason=lwk: job 2: ");
	/* A second call finds a job that is stuck, which is ms_repair()'s. */
	assert_int_equal(ms_repair_over(note_said, NULL, &err), 0);
}

static int begin_by_hand(struct ms_error *err)
{
	struct journal *journal;

	if (journal_create(4, 0, "lwkpart", &journal, err) < 0)
		return -1;
	journal_close(journal);
	return 0;
}

static void repair_and_find_job_4(void)
{
	struct ms_error err;

	*said = '\0';
	assert_int_equal(ms_repair_over(note_said, NULL, &err), 0);
	assert_string_equal(said, "");
	assert_true(unit_exists("jobs/4.json"));
}

/* lwkctl bench has an LWK of which Slurm knows nothing. Nobody but root can tell whether another is needed. */
static void an_lwk_that_is_none_of_slurms_is_told_and_left_alone(void **state)
{
	char process[64];
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	/* The processes are this host's. */
	files_root = "";
	make_slurm("");
	make_active(4);
	look_for_over();
	assert_has(heard.problems,
		   "nothing tells who has made it -> run 'lwkctl reset 4' if nobody");
	repair_and_find_job_4();

	assert_int_equal(begin_by_hand(&err), 0);
	look_for_over();
	assert_int_equal(heard.n_problems, 0);
	assert_int_equal(heard.n_notes, 1);
	snprintf(process, sizeof(process), "process %d (", getpid());
	assert_has(heard.notes, "job 4 has an LWK and is none of Slurm's: ");
	assert_has(heard.notes, process);
	assert_has(heard.notes, "test-check) has made it and runs");
	repair_and_find_job_4();

	assert_int_equal(journal_remove(4, &err), 0);
	assert_int_equal(unit_in_child(begin_by_hand), 0);
	look_for_over();
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems,
		   "test-check) has made it and has ended -> run 'lwkctl reset 4' if");
	repair_and_find_job_4();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_is_well),
		TEST(each_wrong_setting_is_one_finding),
		TEST(settings_that_do_no_harm),
		TEST(plugstack_is_beside_slurm_conf),
		TEST(plugstack_of_a_configless_node),
		TEST(half_cores),
		TEST(no_assistant_cpu),
		TEST(os_cpus_and_the_spec_list_differ),
		TEST(slurm_does_not_answer),
		TEST(a_configuration_that_is_not_valid),
		TEST(jobs_that_are_over_are_found_and_repaired),
		TEST(a_job_that_runs_again_is_left_alone),
		TEST(a_node_that_cannot_be_repaired_is_drained),
		TEST(an_lwk_that_is_none_of_slurms_is_told_and_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
