/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes idle machines, and plans jobs on them. */
#ifndef MACHINE_H
#define MACHINE_H

#include "unit/unit.h"

#include "machine/topology.h"
#include "modeswitch/config.h"
#include "modeswitch/plan.h"
#include "plan/plan.h"
#include "plan/supply.h"

#define GB (1UL << 30)
#define MB (1UL << 20)

struct machine {
	hwloc_topology_t topology;
	struct supply *supply;
	struct ms_config *config; /* LinuxCpus=1, LinuxMemory=64M, OsCpus=0 */
	struct ms_request request;
	struct ms_plan *plan;
	struct ms_error err;
};

/* Makes a machine from hwloc's synthetic description, or loads a file in tests/unit/topologies. */
void machine_make(struct machine *machine, const char *description);
void machine_load(struct machine *machine, const char *file);
void machine_free(struct machine *machine);

/* Sets a value of the configuration, written as in lwk.conf. */
void machine_os_cpus(struct machine *machine, const char *cpus);
void machine_system_nodes(struct machine *machine, const char *nodes);
void machine_numa(struct machine *machine, const char *policy);
/* Sets a value of the request, written as in the job's option. */
void machine_ask_numa(struct machine *machine, const char *policy);
void machine_ask_memory(struct machine *machine, const char *amount);

/* Plans a job with this allocation. 0 fills the machine's 'plan', -1 its 'err'. */
int plan(struct machine *machine, const char *cpus, uint64_t memory);

void assert_list(hwloc_const_bitmap_t list, const char *expected);
/* Checks the plan's memory, in MB: "0:4 3:508" is 4 MB of node 0 and all the rest of node 3. */
void assert_memory(const struct machine *machine, const char *expected);
const struct ms_plan_memory *memory_entry(const struct machine *machine, unsigned node);
uint64_t memory_of(const struct machine *machine, unsigned node);
uint64_t memory_in_all(const struct machine *machine);
/* Returns the Linux CPU that gets this CPU's doorbells, or -1 if the LWK has no such CPU. */
int doorbell_of(const struct machine *machine, unsigned cpu);

#endif
