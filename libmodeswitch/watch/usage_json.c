// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The statistics of an instance as JSON, and words for states and events.
 */
#include <json-c/json.h>

#include "modeswitch/watch.h"

static const char *const instance_states[MS_INSTANCE_STATES] = {
	[MS_INSTANCE_INACTIVE] = "inactive", [MS_INSTANCE_BOOTING] = "booting",
	[MS_INSTANCE_RUNNING] = "running",   [MS_INSTANCE_SHUTTING_DOWN] = "shutting down",
	[MS_INSTANCE_PANIC] = "panic",	     [MS_INSTANCE_HUNG] = "hung",
	[MS_INSTANCE_FREEZING] = "freezing", [MS_INSTANCE_FROZEN] = "frozen",
};

static const char *const doings[MS_CPU_DOINGS] = {
	[MS_CPU_OFF] = "off",
	[MS_CPU_IDLE] = "idle",
	[MS_CPU_USER] = "user",
	[MS_CPU_SYSTEM] = "system",
	[MS_CPU_DELEGATING] = "delegating",
	[MS_CPU_FROZEN] = "frozen",
	[MS_CPU_STOPPED] = "stopped",
};

static const char *const interrupts[MS_INTERRUPTS] = {
	[MS_INTERRUPT_DOORBELL] = "doorbell",
	[MS_INTERRUPT_LINUX] = "linux",
	[MS_INTERRUPT_SPURIOUS] = "spurious",
	[MS_INTERRUPT_TIMER] = "timer",
};

static const char *const call_kinds[MS_CALL_KINDS] = {
	[MS_CALLS_TRANSFER] = "transfer", [MS_CALLS_FILES] = "files",
	[MS_CALLS_NETWORK] = "network",	  [MS_CALLS_WAIT] = "wait",
	[MS_CALLS_PROCESS] = "process",	  [MS_CALLS_TIME] = "time",
	[MS_CALLS_MEMORY] = "memory",
};

static const char *const events[MS_EVENTS] = {
	[MS_EVENT_STATE] = "state",	[MS_EVENT_PANIC] = "panic",
	[MS_EVENT_HANG] = "hang",	[MS_EVENT_OUT_OF_MEMORY] = "out of memory",
	[MS_EVENT_CONSOLE] = "console", [MS_EVENT_EXIT] = "exit",
};

const char *ms_instance_state_word(enum ms_instance_state state)
{
	return instance_states[state];
}

const char *ms_cpu_doing_word(enum ms_cpu_doing doing)
{
	return doings[doing];
}

const char *ms_interrupt_word(enum ms_interrupt interrupt)
{
	return interrupts[interrupt];
}

const char *ms_call_kind_word(enum ms_call_kind kind)
{
	return call_kinds[kind];
}

const char *ms_event_word(enum ms_event event)
{
	return events[event];
}

/* Numbers of JSON are signed here: larger ones, which no sound LWK reaches, are cut off. */
static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key,
			       json_object_new_int64(number > INT64_MAX ? INT64_MAX : number));
}

static void add_counts(struct json_object *object, const struct ms_counts *counts)
{
	struct json_object *by_interrupt = json_object_new_object();
	struct json_object *by_kind = json_object_new_object();

	for (size_t i = 0; i < MS_INTERRUPTS; i++)
		add_number(by_interrupt, interrupts[i], counts->interrupts[i]);
	for (size_t i = 0; i < MS_CALL_KINDS; i++)
		add_number(by_kind, call_kinds[i], counts->delegated_calls[i]);
	add_number(object, "user_ns", counts->user_ns);
	add_number(object, "system_ns", counts->system_ns);
	add_number(object, "delegating_ns", counts->delegating_ns);
	add_number(object, "idle_ns", counts->idle_ns);
	json_object_object_add(object, "interrupts", by_interrupt);
	add_number(object, "disturbances", counts->disturbances);
	add_number(object, "local_calls", counts->local_calls);
	json_object_object_add(object, "delegated_calls", by_kind);
	add_number(object, "faults", counts->faults);
	add_number(object, "processes", counts->processes);
	add_number(object, "out_of_memory", counts->out_of_memory);
}

static struct json_object *cpu_to_json(const struct ms_cpu_usage *cpu)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "cpu", cpu->cpu);
	add_number(object, "node", cpu->node);
	json_object_object_add(object, "doing", json_object_new_string(doings[cpu->doing]));
	json_object_object_add(object, "torn", json_object_new_boolean(cpu->torn));
	add_counts(object, &cpu->counts);
	return object;
}

static struct json_object *node_to_json(const struct ms_node_usage *node)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "node", node->node);
	add_number(object, "bytes_4k", node->bytes_4k);
	add_number(object, "bytes_2m", node->bytes_2m);
	add_number(object, "peak", node->peak);
	add_number(object, "peak_4k", node->peak_4k);
	add_number(object, "peak_2m", node->peak_2m);
	return object;
}

static struct json_object *pmu_to_json(const struct ms_pmu *pmu)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "version", pmu->version);
	add_number(object, "counters", pmu->counters);
	add_number(object, "fixed", pmu->fixed);
	add_number(object, "bits", pmu->bits);
	return object;
}

struct json_object *ms_usage_to_json(const struct ms_usage *usage)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_array(), *nodes = json_object_new_array();

	add_number(object, "when_ns", usage->when_ns);
	add_number(object, "threads", usage->threads);
	add_number(object, "memory", usage->memory);
	add_number(object, "memory_used", usage->memory_used);
	add_number(object, "memory_peak", usage->memory_peak);
	add_number(object, "kernel_memory", usage->kernel_memory);
	add_number(object, "kernel_used", usage->kernel_used);
	add_number(object, "kernel_peak", usage->kernel_peak);
	add_counts(object, &usage->total);
	json_object_object_add(object, "pmu", pmu_to_json(&usage->pmu));
	for (size_t i = 0; i < usage->n_cpus; i++)
		json_object_array_add(cpus, cpu_to_json(&usage->cpus[i]));
	for (size_t i = 0; i < usage->n_nodes; i++)
		json_object_array_add(nodes, node_to_json(&usage->nodes[i]));
	json_object_object_add(object, "cpus", cpus);
	json_object_object_add(object, "nodes", nodes);
	return object;
}
