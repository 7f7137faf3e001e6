// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `lwkctl plan --topology`: a machine that an XML file describes, a plan for it and its drawing.
 * The inputs are numbers of machines, because hwloc itself does not survive every text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/configuration.h"
#include "fuzz.h"
#include "library/draw.h"
#include "library/files.h"
#include "modeswitch/plan.h"

#define MAX_CPUS 64

/* ---- the machine ---- */

struct machine {
	FILE *xml;
	struct input *input;
	unsigned next_id, next_cpu, next_node;
	unsigned cpus[MAX_CPUS]; /* their numbers */
};

static void write_set(FILE *xml, const char *name, hwloc_const_bitmap_t set)
{
	char *text;

	hwloc_bitmap_asprintf(&text, set);
	fprintf(xml, " %s=\"%s\" complete_%s=\"%s\"", name, text, name, text);
	free(text);
}

static void open_object(struct machine *machine, const char *type, unsigned number,
			hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t nodes)
{
	fprintf(machine->xml, "<object type=\"%s\" os_index=\"%u\" gp_index=\"%u\"", type, number,
		++machine->next_id);
	write_set(machine->xml, "cpuset", cpus);
	write_set(machine->xml, "nodeset", nodes);
}

static void close_object(struct machine *machine)
{
	fprintf(machine->xml, "</object>\n");
}

/* The CPUs' numbers in any order, as firmwares have them. */
static void number_cpus(struct machine *machine)
{
	unsigned first = take_byte(machine->input) % 3, step = 1 + take_byte(machine->input) % 7;

	for (unsigned i = 0; i < MAX_CPUS; i++)
		machine->cpus[i] = first + i / (MAX_CPUS / 8) + i % (MAX_CPUS / 8) * 8 * step;
}

static void write_core(struct machine *machine, unsigned threads, hwloc_const_bitmap_t nodes)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
	unsigned first = machine->next_cpu;

	for (unsigned i = 0; i < threads; i++)
		hwloc_bitmap_set(cpus, machine->cpus[machine->next_cpu++]);
	open_object(machine, "Core", first, cpus, nodes);
	fprintf(machine->xml, ">\n");
	for (unsigned i = first; i < machine->next_cpu; i++) {
		hwloc_bitmap_only(one, machine->cpus[i]);
		open_object(machine, "PU", machine->cpus[i], one, nodes);
		fprintf(machine->xml, "/>\n");
	}
	close_object(machine);
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(one);
}

static void write_package(struct machine *machine, unsigned cores, unsigned threads)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), nodes = hwloc_bitmap_alloc();
	unsigned node = machine->next_node++;

	for (unsigned i = 0; i < cores * threads; i++)
		hwloc_bitmap_set(cpus, machine->cpus[machine->next_cpu + i]);
	hwloc_bitmap_set(nodes, node);
	open_object(machine, "Package", node, cpus, nodes);
	fprintf(machine->xml, ">\n");
	open_object(machine, "NUMANode", node, cpus, nodes);
	fprintf(machine->xml, " local_memory=\"%ju\"/>\n",
		(uintmax_t)take_number(machine->input, 1 + take_byte(machine->input) % 8));
	for (unsigned i = 0; i < cores; i++)
		write_core(machine, threads, nodes);
	close_object(machine);
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(nodes);
}

static void write_machine(struct machine *machine)
{
	unsigned packages = 1 + take_byte(machine->input) % 4;
	unsigned cores = 1 + take_byte(machine->input) % 8;
	unsigned threads = 1 + take_byte(machine->input) % 2;
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), nodes = hwloc_bitmap_alloc();

	number_cpus(machine);
	for (unsigned i = 0; i < packages * cores * threads; i++)
		hwloc_bitmap_set(cpus, machine->cpus[i]);
	hwloc_bitmap_set_range(nodes, 0, packages - 1);
	fprintf(machine->xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			      "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
			      "<topology version=\"2.0\">\n");
	open_object(machine, "Machine", 0, cpus, nodes);
	fprintf(machine->xml, ">\n");
	for (unsigned i = 0; i < packages; i++)
		write_package(machine, cores, threads);
	close_object(machine);
	fprintf(machine->xml, "</topology>\n");
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(nodes);
}

/* ---- the job and its plan ---- */

static struct ms_config *read_config(struct input *input)
{
	static char text[512];
	struct ms_config *config = NULL;
	struct ms_error err;
	FILE *file;
	int length = snprintf(text, sizeof(text),
			      "[node]\nLinuxCpus=%u\nLinuxMemory=%uM\nOsCpus=%u\nNuma=%s\n"
			      "[image lwk]\nPath=/lwk.elf\n",
			      take_byte(input) % 4, take_byte(input), take_byte(input) % 12,
			      take_byte(input) & 1 ? "interleave" : "local");

	file = fmemopen(text, length, "r");
	must(file);
	config_parse(file, "lwk.conf", &config, &err);
	fclose(file);
	return config;
}

static void read_request(struct input *input, const struct machine *machine,
			 struct ms_request *request)
{
	uint64_t cpus = take_number(input, 8);
	struct ms_error ignored;

	for (unsigned i = 0; i < machine->next_cpu; i++) {
		if (cpus >> i & 1)
			hwloc_bitmap_set(request->cpus, machine->cpus[i]);
	}
	request->memory = take_number(input, 1 + take_byte(input) % 8);
	request->one_per_core = take_byte(input) & 1;
	ms_parse_amount(take_text(input), &request->lwk_memory, &ignored);
	ms_parse_numa(take_text(input), &request->numa, &ignored);
}

static void check(const struct ms_plan *plan, const struct ms_request *request)
{
	uint64_t bytes = 0;

	must(hwloc_bitmap_isincluded(plan->lwk_cpus, request->cpus));
	must(!hwloc_bitmap_intersects(plan->lwk_cpus, plan->linux_cpus));
	for (size_t i = 0; i < plan->n_cpus; i++) {
		must(hwloc_bitmap_isset(plan->lwk_cpus, plan->cpus[i].cpu));
		must(!hwloc_bitmap_isset(plan->lwk_cpus, plan->cpus[i].doorbell_cpu));
	}
	for (size_t i = 0; i < plan->n_memory; i++)
		bytes += plan->memory[i].bytes;
	must(plan->n_cpus && bytes == plan->bytes && bytes <= request->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct machine machine = { .input = &input };
	struct ms_request request = { .cpus = hwloc_bitmap_alloc() };
	struct ms_config *config = read_config(&input);
	struct ms_plan *plan;
	struct ms_error err;
	char path[128];

	snprintf(path, sizeof(path), "%s/machine.xml", files_directory());
	machine.xml = fopen(path, "w");
	must(machine.xml);
	write_machine(&machine);
	fclose(machine.xml);
	read_request(&input, &machine, &request);
	if (config && ms_plan_make(config, &request, path, &plan, &err) == 0) {
		check(plan, &request);
		draw_plan(path, config, plan);
		ms_plan_free(plan);
	}
	ms_config_free(config);
	ms_numa_release(&request.numa);
	hwloc_bitmap_free(request.cpus);
	return 0;
}
