/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Idle machines to plan for. */
#ifndef MACHINE_H
#define MACHINE_H

#include "unit/unit.h"

#include "machine/topology.h"
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

/* From hwloc's synthetic description; or from a file in tests/unit/topologies. */
void machine_make(struct machine *machine, const char *description);
void machine_load(struct machine *machine, const char *file);
void machine_free(struct machine *machine);

/* As lwk.conf would say it. */
void machine_os_cpus(struct machine *machine, const char *cpus);
void machine_system_nodes(struct machine *machine, const char *nodes);
void machine_numa(struct machine *machine, const char *policy);
/* As the job would say it. */
void machine_ask_numa(struct machine *machine, const char *policy);
void machine_ask_memory(struct machine *machine, const char *amount);

/* Plans with this allocation; what the machine's 'plan' or 'err' tells then. */
int plan(struct machine *machine, const char *cpus, uint64_t memory);

void assert_list(hwloc_const_bitmap_t list, const char *expected);
/* "2 large pages of node 0, all the rest of node 3": memory in MB, "0:4 3:508". */
void assert_memory(const struct machine *machine, const char *expected);
const struct ms_plan_memory *memory_entry(const struct machine *machine, unsigned node);
uint64_t memory_of(const struct machine *machine, unsigned node);
uint64_t memory_in_all(const struct machine *machine);
/* The CPU that serves this one's doorbells; -1: it is not the LWK's. */
int doorbell_of(const struct machine *machine, unsigned cpu);

#endif
