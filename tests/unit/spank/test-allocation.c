// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading a job's cores and memory from scontrol's JSON, which only Slurm 24.11 and later
 * need: the tested source is compiled for the newest release that tests/slurm declares.
 */
#include "unit/unit.h"

static const char *scontrol;
#define SCONTROL_PATH scontrol
#include "compat/slurm_compat.c"

/* The source calls these, but the functions under test do not. */
void slurm_init(const char *configuration)
{
}

int slurm_load_job(job_info_msg_t **message, slurm_step_id_t id, uint16_t flags)
{
	return SLURM_ERROR;
}

int slurm_notify_job(slurm_step_id_t id, char *message)
{
	return SLURM_ERROR;
}

int slurm_complete_job(slurm_step_id_t *id, uint32_t status)
{
	return SLURM_ERROR;
}

void slurm_init_job_desc_msg(job_desc_msg_t *description)
{
}

spank_err_t spank_prepend_task_argv(spank_t spank, int argc, const char *argv[])
{
	return ESPANK_ERROR;
}

#define CORE(status) "{\"index\":0,\"status\":[" status "]}"
#define YES CORE("\"ALLOCATED\",\"IN_USE\"")
#define NO CORE("\"UNALLOCATED\"")
#define NODE(name, memory, cores)                                                                  \
	"{\"name\":\"" name "\",\"memory\":{\"used\":0,\"allocated\":" memory                      \
	"},\"sockets\":[" cores "]}"
#define SOCKET(cores) "{\"index\":0,\"cores\":[" cores "]}"
#define JOB(id, name, nodes)                                                                       \
	"{\"job_id\":" id ",\"name\":\"" name "\",\"job_resources\":{\"nodes\":"                   \
	"{\"count\":2,\"allocation\":[" nodes "]}}}"

/* Has a scontrol print that text and end with that status, and asks for job 7 on node n2. */
static int ask(const char *text, int status, struct compat_allocation *allocation,
	       struct ms_error *err)
{
	slurm_job_info_t job = { .step_id = { .job_id = 7 } };
	char path[128];

	snprintf(path, sizeof(path), "%s", unit_file("answer", "%s", text));
	scontrol = unit_file("scontrol",
			     "#!/bin/bash\n[[ $* == '--json --details show job 7' ]] || exit 9\n"
			     "echo \"$(<%s)\"\nexit %d\n",
			     path, status);
	assert_int_equal(chmod(scontrol, 0700), 0);
	return compat_find_allocation(&job, "n2", allocation, err);
}

static void refused(const char *text, int status, const char *because)
{
	struct compat_allocation allocation;
	struct ms_error err;

	assert_int_equal(ask(text, status, &allocation, &err), -1);
	assert_has(err.text, because);
}

static void the_cores_of_all_sockets_count_on(void **state)
{
	struct compat_allocation allocation;
	struct ms_error err;

	assert_int_equal(ask("scontrol: warning: something\n{\"jobs\":[" JOB(
				     "7", "a",
				     NODE("n1", "5", SOCKET(YES)) "," NODE(
					     "n2", "300",
					     SOCKET(YES "," YES "," NO "," NO) "," SOCKET(
						     NO "," YES "," NO "," NO))) "]}",
			     0, &allocation, &err),
			 0);
	assert_string_equal(allocation.cores, "0-1,5");
	assert_int_equal(allocation.megabytes, 300);
	free(allocation.cores);
}

static void the_other_jobs_of_an_array_and_texts_of_users_do_not_count(void **state)
{
	struct compat_allocation allocation;
	struct ms_error err;

	assert_int_equal(
		ask("{\"jobs\":[" JOB("6", "a", NODE("n2", "100", SOCKET(YES "," YES))) "," JOB(
			    "7", "\\\",\\\"memory\\\":{\\\"allocated\\\":9} Mem=9",
			    NODE("n2", "200", SOCKET(NO "," YES))) "]}",
		    0, &allocation, &err),
		0);
	assert_string_equal(allocation.cores, "1");
	assert_int_equal(allocation.megabytes, 200);
	free(allocation.cores);
}

static void an_answer_without_the_allocation_is_refused(void **state)
{
	refused("{\"jobs\":[]}", 0, "job 7 on node n2");
	refused("no JSON", 0, "job 7 on node n2");
	refused("{\"jobs\":[" JOB("7", "a", NODE("n1", "5", SOCKET(YES))) "]}", 0, "on node n2");
	refused("{\"jobs\":[" JOB("7", "a", NODE("n2", "5", SOCKET(NO))) "]}", 0, "on node n2");
	refused("{\"jobs\":[" JOB("7", "a", NODE("n2", "-5", SOCKET(YES))) "]}", 0, "on node n2");
	refused("{\"jobs\":[" JOB("7", "a", NODE("n2", "\"5\"", SOCKET(YES))) "]}", 0,
		"on node n2");
	refused("{\"jobs\":{\"job_id\":7}}", 0, "on node n2");
}

static void an_scontrol_that_fails_is_cited(void **state)
{
	refused("unrecognized option '--json'", 1, "status 1 (unrecognized option '--json')");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_cores_of_all_sockets_count_on, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(
			the_other_jobs_of_an_array_and_texts_of_users_do_not_count, unit_setup,
			unit_teardown),
		cmocka_unit_test_setup_teardown(an_answer_without_the_allocation_is_refused,
						unit_setup, unit_teardown),
		cmocka_unit_test_setup_teardown(an_scontrol_that_fails_is_cited, unit_setup,
						unit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
