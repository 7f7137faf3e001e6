/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests of 'lwkctl check': Slurm's answers of a node where all is well, and what the check
 * finds.
 */
#ifndef CHECKED_H
#define CHECKED_H

#include "base/files.h"
#include "modeswitch/config.h"
#include "modeswitch/node.h"
#include "node/check/check.h"
#include "unit/unit.h"

static const char good_slurm[] = "Configuration data as of 2026-11-21T15:38:28\n"
				 "BatchStartTimeout       = 120 sec\n"
				 "HealthCheckProgram      = (null)\n"
				 "JobContainerType        = job_container/lwk\n"
				 "PlugStackConfig         = (null)\n"
				 "PluginDir               = /nowhere\n"
				 "PreemptMode             = OFF\n"
				 "ProctrackType           = proctrack/cgroup\n"
				 "PrologEpilogTimeout     = 65534\n"
				 "PrologFlags             = Alloc,Contain\n"
				 "SLURM_VERSION           = 22.05.8\n"
				 "SelectType              = select/cons_tres\n"
				 "SelectTypeParameters    = CR_CORE_MEMORY\n"
				 "SlurmdParameters        = config_overrides\n"
				 "TaskPlugin              = task/affinity,task/cgroup\n"
				 "TaskPluginParam         = none\n"
				 "\n"
				 "Cgroup Support Configuration:\n"
				 "ConstrainCores          = yes\n"
				 "ConstrainRAMSpace       = yes\n";

static const char good_node[] =
	"NodeName=n1 CPUTot=8 RealMemory=2688 AllocMem=0 FreeMem=2289 CoreSpecCount=1 "
	"CPUSpecList=0  State=IDLE ThreadsPerCore=1 Partitions=main,more BootTime=2026 "
	"Version=22.05.8\n";

static const char good_partitions[] =
	"PartitionName=ma Nodes=n2 OverSubscribe=FORCE:4 PreemptMode=SUSPEND State=UP\n"
	"PartitionName=main Nodes=n1 OverSubscribe=NO PreemptMode=OFF State=UP\n"
	"PartitionName=more Nodes=n1 OverSubscribe=EXCLUSIVE PreemptMode=OFF State=UP\n";

static struct heard {
	char problems[4096], notes[4096];
	int n_problems, n_notes, n_fine;
} heard;

static inline void hear(const struct ms_finding *finding, void *context)
{
	char line[2048];

	/* The place of Slurm's files on this host does not matter here. */
	if (strcmp(finding->subject, "plugstack") == 0)
		return;
	snprintf(line, sizeof(line), "%s: %s -> %s\n", finding->subject, finding->text,
		 finding->to_do ? finding->to_do : "");
	switch (finding->level) {
	case MS_PROBLEM:
		heard.n_problems++;
		strncat(heard.problems, line, sizeof(heard.problems) - strlen(heard.problems) - 1);
		break;
	case MS_NOTE:
		heard.n_notes++;
		strncat(heard.notes, line, sizeof(heard.notes) - strlen(heard.notes) - 1);
		break;
	default:
		heard.n_fine++;
	}
}

static struct ms_config config;

/* Copies 'text', which must have 'old', and replaces that. */
static inline char *changed(const char *text, const char *old, const char *new)
{
	const char *at = old ? strstr(text, old) : NULL;
	char *copy;

	if (!at)
		return strdup(text);
	assert_true(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) > 0);
	return copy;
}

static inline int setup(void **state)
{
	if (unit_setup(state) < 0)
		return -1;
	files_root = unit_dir;
	unit_file("proc/meminfo", "MemTotal:        3000000 kB\n");
	memset(&config, 0, sizeof(config));
	config.linux_cpus = 1;
	config.switch_timeout_ms = 60000;
	config.os_cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_set(config.os_cpus, 0);
	return 0;
}

static inline int teardown(void **state)
{
	hwloc_bitmap_free(config.os_cpus);
	files_root = "";
	return unit_teardown(state);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
