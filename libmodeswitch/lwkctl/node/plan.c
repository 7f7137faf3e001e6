// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl plan: shows what a job would get, as text, as JSON and as a drawing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "lwkctl/drawing/drawing.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/plan.h"

enum {
	OPTION_CPUS = OPTION_OWN,
	OPTION_MEM,
	OPTION_LWK_MEM,
	OPTION_NUMA,
	OPTION_HINT,
	OPTION_IMAGE,
	OPTION_TOPOLOGY,
	OPTION_SVG
};

/* The verb's own options; NULL: not given. */
static struct {
	const char *cpus, *memory, *lwk_memory, *numa, *hint, *image, *topology, *svg;
} given;

static error_t parse(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPTION_CPUS:
		given.cpus = text;
		return 0;
	case OPTION_MEM:
		given.memory = text;
		return 0;
	case OPTION_LWK_MEM:
		given.lwk_memory = text;
		return 0;
	case OPTION_NUMA:
		given.numa = text;
		return 0;
	case OPTION_HINT:
		given.hint = text;
		return 0;
	case OPTION_IMAGE:
		given.image = text;
		return 0;
	case OPTION_TOPOLOGY:
		given.topology = text;
		return 0;
	case OPTION_SVG:
		given.svg = text;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *list(char text[256], hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_list_snprintf(text, 256, cpus);
	return *text ? text : "none";
}

/* Prints a line for each CPU of Linux to which LWK CPUs send their doorbells. */
static void print_doorbells(const struct ms_plan *plan)
{
	hwloc_bitmap_t servers = hwloc_bitmap_alloc(), served = hwloc_bitmap_alloc();
	char text[256];
	int server;

	for (size_t i = 0; i < plan->n_cpus; i++)
		hwloc_bitmap_set(servers, plan->cpus[i].doorbell_cpu);
	hwloc_bitmap_foreach_begin(server, servers) {
		hwloc_bitmap_zero(served);
		for (size_t i = 0; i < plan->n_cpus; i++) {
			if (plan->cpus[i].doorbell_cpu == (unsigned)server)
				hwloc_bitmap_set(served, plan->cpus[i].cpu);
		}
		printf("doorbells: CPU %d serves the CPUs %s\n", server, list(text, served));
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(servers);
	hwloc_bitmap_free(served);
}

static void print_plan(const struct ms_plan *plan)
{
	char text[256];

	printf("image %s (%s): %s\n", plan->image.name, plan->image.driver, plan->image.path);
	printf("LWK: %zu CPUs, %ju MB of memory\n", plan->n_cpus, MB(plan->bytes));
	printf("CPUs that leave Linux: %s\n", list(text, plan->lwk_cpus));
	if (!hwloc_bitmap_iszero(plan->idle_cpus))
		printf("of these idle: %s\n", list(text, plan->idle_cpus));
	printf("CPUs of the job that stay: %s\n", list(text, plan->linux_cpus));
	print_doorbells(plan);
	for (size_t i = 0; i < plan->n_memory; i++) {
		const struct ms_plan_memory *from = &plan->memory[i];

		if (from->bytes)
			printf("memory: %ju MB of NUMA node %u%s%s\n", MB(from->bytes), from->node,
			       from->system ? ", the system's" : "",
			       from->remote ? ", remote to all CPUs of the LWK" : "");
	}
	putchar('\n');
}

static struct json_object *plan_to_json(const struct ms_plan *plan)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_array(), *memory = json_object_new_array();

	json_add_text(object, "image", plan->image.name);
	json_add_text(object, "driver", plan->image.driver);
	json_add_list(object, "lwk_cpus", plan->lwk_cpus);
	json_add_list(object, "idle_cpus", plan->idle_cpus);
	json_add_list(object, "linux_cpus", plan->linux_cpus);
	json_add_number(object, "bytes", plan->bytes);
	for (size_t i = 0; i < plan->n_cpus; i++) {
		struct json_object *cpu = json_object_new_object();

		json_add_number(cpu, "cpu", plan->cpus[i].cpu);
		json_add_number(cpu, "node", plan->cpus[i].node);
		json_add_number(cpu, "doorbell_cpu", plan->cpus[i].doorbell_cpu);
		json_object_array_add(cpus, cpu);
	}
	for (size_t i = 0; i < plan->n_memory; i++) {
		struct json_object *from = json_object_new_object();

		json_add_number(from, "node", plan->memory[i].node);
		json_add_number(from, "bytes", plan->memory[i].bytes);
		json_add_flag(from, "system", plan->memory[i].system);
		json_add_flag(from, "remote", plan->memory[i].remote);
		json_object_array_add(memory, from);
	}
	json_object_object_add(object, "cpus", cpus);
	json_object_object_add(object, "memory", memory);
	return object;
}

/*
 * The CPUs that are lent to LWK jobs now; none on a machine from a file. The caller frees the set.
 */
static hwloc_bitmap_t find_lent(void)
{
	hwloc_bitmap_t lent = hwloc_bitmap_alloc();
	struct ms_error ignored;
	struct ms_job *jobs;
	size_t n;

	if (given.topology || ms_job_list(&jobs, &n, &ignored) < 0)
		return lent;
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].state == MS_JOB_ACTIVE)
			hwloc_bitmap_or(lent, lent, jobs[i].lwk_cpus);
	}
	ms_job_list_free(jobs, n);
	return lent;
}

static int show(const struct options *options, const struct ms_config *config,
		const struct ms_plan *plan)
{
	hwloc_bitmap_t lent = find_lent();
	struct drawing drawing = { .config = config, .plan = plan, .lent = lent };
	struct ms_error err;
	int status = EXIT_OK;

	if (ms_topology_load(given.topology, &drawing.topology, &err) < 0) {
		hwloc_bitmap_free(lent);
		return fail(&err);
	}
	if (options->json) {
		print_json(plan_to_json(plan));
	} else {
		print_plan(plan);
		drawing_print(&drawing, stdout);
	}
	if (given.svg && drawing_write_svg(&drawing, given.svg, &err) < 0)
		status = fail(&err);
	hwloc_topology_destroy(drawing.topology);
	hwloc_bitmap_free(lent);
	return status;
}

/* Reads Slurm's hints; all but multithread mean one hardware thread of each core. */
static int parse_hint(const char *text, bool *one_per_core)
{
	static const char *const words[] = { "nomultithread", "compute_bound", "memory_bound" };

	*one_per_core = false;
	if (strcmp(text, "multithread") == 0)
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(text, words[i]) == 0)
			*one_per_core = true;
	}
	return *one_per_core ? 0 : -1;
}

/* Returns EXIT_OK, or the exit status after a message. */
static int read_request(struct ms_request *request)
{
	struct ms_error err;

	if (!given.cpus || ms_parse_cpus(given.cpus, request->cpus, &err) < 0 ||
	    hwloc_bitmap_iszero(request->cpus))
		return usage_error("--cpus LIST, such as --cpus 4-7",
				   given.cpus ? given.cpus : "no --cpus");
	if (!given.memory || ms_parse_size(given.memory, &request->memory, &err) < 0)
		return usage_error("--mem SIZE, such as --mem 512M",
				   given.memory ? given.memory : "no --mem");
	if (given.lwk_memory && ms_parse_amount(given.lwk_memory, &request->lwk_memory, &err) < 0)
		return usage_error("--lwk-mem all, 1% to 100%, or a size such as 512M",
				   given.lwk_memory);
	if (given.numa && ms_parse_numa(given.numa, &request->numa, &err) < 0)
		return usage_error("--numa local, interleave, or bind=NODES such as bind=0,2-3",
				   given.numa);
	if (given.hint && parse_hint(given.hint, &request->one_per_core) < 0)
		return usage_error("--hint nomultithread, multithread, compute_bound or "
				   "memory_bound",
				   given.hint);
	if (given.image && !ms_image_name_valid(given.image))
		return usage_error("--image NAME", given.image);
	snprintf(request->image, sizeof(request->image), "%s", given.image ? given.image : "");
	return 0;
}

static int make_and_show(const struct options *options, const struct ms_request *request)
{
	struct ms_config *config;
	struct ms_plan *plan;
	struct ms_error err;
	int status;

	if (ms_config_load(options->config, &config, &err) < 0)
		return fail(&err);
	if (ms_plan_make(config, request, given.topology, &plan, &err) < 0) {
		status = fail(&err);
	} else {
		status = show(options, config, plan);
		ms_plan_free(plan);
	}
	ms_config_free(config);
	return status;
}

static int run(const struct options *options)
{
	struct ms_request request = { .uid = getuid(), .cpus = hwloc_bitmap_alloc() };
	int status = read_request(&request);

	if (status == 0)
		status = make_and_show(options, &request);
	hwloc_bitmap_free(request.cpus);
	ms_numa_release(&request.numa);
	return status;
}

const struct verb verb_plan = {
	.name = "plan",
	.summary = "Show what a job with certain CPUs and memory would get",
	.help = "Shows and draws what a job with these CPUs and this memory would get on this node, or on "
		"the machine that an hwloc XML file describes. Changes nothing.",
	.arguments = "--cpus LIST --mem SIZE",
	.options =
		(const struct argp_option[]){
			OPTION("cpus", OPTION_CPUS, "LIST", "The CPUs of the job, such as 4-7"),
			OPTION("mem", OPTION_MEM, "SIZE", "The memory of the job, such as 512M"),
			OPTION("lwk-mem", OPTION_LWK_MEM, "AMOUNT",
			       "How much of it the LWK gets: all, 1% to 100%, or a size"),
			OPTION("numa", OPTION_NUMA, "POLICY",
			       "local, interleave or bind=NODES, as the job's --lwk-numa"),
			OPTION("hint", OPTION_HINT, "HINT",
			       "nomultithread, multithread, compute_bound or memory_bound, as the job's "
			       "--hint"),
			OPTION("image", OPTION_IMAGE, "NAME", "The LWK image, as in --lwk=NAME"),
			OPTION("topology", OPTION_TOPOLOGY, "FILE.xml",
			       "Plan for the idle machine that this hwloc XML file describes"),
			OPTION("svg", OPTION_SVG, "FILE", "Also write the drawing to FILE"),
			CONFIG_OPTION,
			JSON_OPTION,
			{ 0 } },
	.parse = parse,
	.run = run,
};
