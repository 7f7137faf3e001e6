// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/topology_load.h"
#include "modeswitch/config.h"
#include "modeswitch/plan.h"
#include "unit/machine.h"

static void machine_read(struct machine *machine, const char *path)
{
	memset(machine, 0, sizeof(*machine));
	if (topology_load_xml(path, &machine->topology, &machine->err) < 0)
		fail_msg("%s", machine->err.text);
	assert_int_equal(supply_of_topology(machine->topology, &machine->supply, &machine->err), 0);
	machine->config = calloc(1, sizeof(*machine->config));
	machine->config->linux_cpus = 1;
	machine->config->linux_memory = 64 * MB;
	machine->config->numa.policy = MS_NUMA_LOCAL;
	machine->config->proxy_memory = 128 * MB;
	machine->config->proxy_memory_per_gb = 4 * MB;
	machine->config->proxy_memory_max = GB;
	machine->config->proxy_cpu = 50;
	machine->config->proxy_weight = 5;
	machine->config->proxy_pids = 1024;
	machine->config->os_cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_set(machine->config->os_cpus, 0);
	machine->config->images = calloc(1, sizeof(*machine->config->images));
	machine->config->n_images = 1;
	strcpy(machine->config->images[0].name, "lwk");
	machine->request.cpus = hwloc_bitmap_alloc();
}

void machine_make(struct machine *machine, const char *description)
{
	hwloc_topology_t made;
	char path[128];

	snprintf(path, sizeof(path), "%s/machine.xml", unit_dir);
	assert_int_equal(hwloc_topology_init(&made), 0);
	assert_int_equal(hwloc_topology_set_synthetic(made, description), 0);
	assert_int_equal(hwloc_topology_load(made), 0);
	assert_int_equal(hwloc_topology_export_xml(made, path, 0), 0);
	hwloc_topology_destroy(made);
	machine_read(machine, path);
}

void machine_load(struct machine *machine, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", TOPOLOGIES, file);
	machine_read(machine, path);
}

void machine_free(struct machine *machine)
{
	hwloc_topology_destroy(machine->topology);
	supply_free(machine->supply);
	ms_config_free(machine->config);
	hwloc_bitmap_free(machine->request.cpus);
	ms_numa_release(&machine->request.numa);
	ms_plan_free(machine->plan);
}

void machine_os_cpus(struct machine *machine, const char *cpus)
{
	assert_int_equal(ms_parse_cpus(cpus, machine->config->os_cpus, &machine->err), 0);
	hwloc_bitmap_set(machine->config->os_cpus, 0);
}

void machine_system_nodes(struct machine *machine, const char *nodes)
{
	if (!machine->config->system_nodes)
		machine->config->system_nodes = hwloc_bitmap_alloc();
	assert_int_equal(ms_parse_cpus(nodes, machine->config->system_nodes, &machine->err), 0);
}

static void set_numa(struct machine *machine, struct ms_numa *numa, const char *policy)
{
	ms_numa_release(numa);
	if (ms_parse_numa(policy, numa, &machine->err) < 0)
		fail_msg("%s", machine->err.text);
}

void machine_numa(struct machine *machine, const char *policy)
{
	set_numa(machine, &machine->config->numa, policy);
}

void machine_ask_numa(struct machine *machine, const char *policy)
{
	set_numa(machine, &machine->request.numa, policy);
}

void machine_ask_memory(struct machine *machine, const char *amount)
{
	if (ms_parse_amount(amount, &machine->request.lwk_memory, &machine->err) < 0)
		fail_msg("%s", machine->err.text);
}

int plan(struct machine *machine, const char *cpus, uint64_t memory)
{
	ms_plan_free(machine->plan);
	machine->plan = NULL;
	*machine->err.text = '\0';
	assert_int_equal(ms_parse_cpus(cpus, machine->request.cpus, &machine->err), 0);
	machine->request.memory = memory;
	return plan_decide(machine->config, &machine->request, machine->topology, machine->supply,
			   &machine->plan, &machine->err);
}

void assert_list(hwloc_const_bitmap_t list, const char *expected)
{
	char text[256];

	hwloc_bitmap_list_snprintf(text, sizeof(text), list);
	assert_string_equal(text, expected);
}

void assert_memory(const struct machine *machine, const char *expected)
{
	char text[512] = "";
	size_t at = 0;

	for (size_t i = 0; i < machine->plan->n_memory; i++) {
		const struct ms_plan_memory *memory = &machine->plan->memory[i];

		if (memory->bytes)
			at += snprintf(text + at, sizeof(text) - at, "%s%u:%ju", at ? " " : "",
				       memory->node, (uintmax_t)(memory->bytes / MB));
	}
	assert_string_equal(text, expected);
}

const struct ms_plan_memory *memory_entry(const struct machine *machine, unsigned node)
{
	for (size_t i = 0; i < machine->plan->n_memory; i++) {
		if (machine->plan->memory[i].node == node)
			return &machine->plan->memory[i];
	}
	return NULL;
}

uint64_t memory_of(const struct machine *machine, unsigned node)
{
	const struct ms_plan_memory *memory = memory_entry(machine, node);

	return memory ? memory->bytes : 0;
}

uint64_t memory_in_all(const struct machine *machine)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < machine->plan->n_memory; i++)
		sum += machine->plan->memory[i].bytes;
	return sum;
}

int doorbell_of(const struct machine *machine, unsigned cpu)
{
	for (size_t i = 0; i < machine->plan->n_cpus; i++) {
		if (machine->plan->cpus[i].cpu == cpu)
			return machine->plan->cpus[i].doorbell_cpu;
	}
	return -1;
}
