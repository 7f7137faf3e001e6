// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what Slurm knows of this node and what would break jobs that share it: its partitions,
 * the CPUs kept for the system, the memory promised to jobs.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/files.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"

#define MB (1UL << 20)
/* Linux needs about so much to stay alive and to start jobs, whatever memory jobs have. */
#define LINUX_NEEDS (128 * MB)

/* Finds the partition's line in the output of "show partition"; NULL: there is none. */
static const char *find_partition(const char *lines, const char *name, size_t length)
{
	static const char key[] = "PartitionName=";

	for (const char *line = lines; line && *line; line = strchr(line, '\n'), line += !!line) {
		const char *found = line + strlen(key);

		if (strncmp(line, key, strlen(key)) == 0 && strncmp(found, name, length) == 0 &&
		    isspace((unsigned char)found[length]))
			return line;
	}
	return NULL;
}

static void check_partition(struct checking *checking, const char *name, const char *text)
{
	char value[64], mode[64];
	bool forced, asked;

	check_setting(text, "OverSubscribe", value, sizeof(value));
	check_setting(text, "PreemptMode", mode, sizeof(mode));
	/* "FORCE:1" and "YES:1" allow one job at a time, so nothing is shared. */
	forced = strncasecmp(value, "FORCE", 5) == 0 && strcasecmp(value, "FORCE:1") != 0;
	asked = strncasecmp(value, "YES", 3) == 0 && strcasecmp(value, "YES:1") != 0;
	if (forced || asked)
		check_tell(checking, forced ? MS_PROBLEM : MS_NOTE, "partition",
			   "write OverSubscribe=NO or EXCLUSIVE for it in slurm.conf",
			   "partition %s has OverSubscribe=%s: a CPU is given to several jobs%s, "
			   "and an LWK job cannot share its CPUs",
			   name, value, forced ? "" : " that ask for it");
	if (check_has_word(mode, "SUSPEND") || check_has_word(mode, "GANG"))
		check_tell(checking, MS_PROBLEM, "partition",
			   "write PreemptMode=REQUEUE, CANCEL or OFF for it in slurm.conf",
			   "partition %s has PreemptMode=%s: an LWK job keeps its CPUs and memory "
			   "while it is suspended, and other jobs get them too",
			   name, mode);
	else if (!forced && !asked)
		check_tell(checking, MS_FINE, "partition", NULL,
			   "in partition %s no two jobs have the same CPU", name);
}

static void check_partitions(struct checking *checking)
{
	char names[4096];

	if (!checking->node || !checking->partitions)
		return;
	check_setting(checking->node, "Partitions", names, sizeof(names));
	for (char *rest = names, *name; (name = strsep(&rest, ","));) {
		const char *line = find_partition(checking->partitions, name, strlen(name));
		char *copy = line ? strndup(line, strcspn(line, "\n")) : NULL;

		if (copy)
			check_partition(checking, name, copy);
		free(copy);
	}
}

static uint64_t memory_of_machine(void)
{
	struct ms_error ignored;
	struct ms_lent *lent = NULL;
	uint64_t bytes = 0;
	char text[8192];
	size_t n = 0;

	if (kernel_read(text, sizeof(text), "/proc/meminfo") > 0)
		bytes = meminfo_bytes(text, "MemTotal");
	if (ms_ledger(&lent, &n, &ignored) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++)
		bytes += lent[i].is_blocks ? lent[i].bytes : 0;
	free(lent);
	return bytes;
}

/* With config_overrides Slurm believes whatever RealMemory= says. */
static void check_real_memory(struct checking *checking)
{
	uint64_t has = memory_of_machine() / MB, promised;
	char to_do[128];

	if (!checking->node || has <= LINUX_NEEDS / MB)
		return;
	promised = check_number(checking->node, "RealMemory") -
		   check_number(checking->node, "MemSpecLimit");
	has -= LINUX_NEEDS / MB;
	snprintf(to_do, sizeof(to_do), "write RealMemory=%ju at this node in slurm.conf",
		 (uintmax_t)has);
	if (promised > has)
		check_tell(checking, MS_NOTE, "memory", to_do,
			   "RealMemory promises jobs %ju MB, but Linux can spare at most %ju MB: "
			   "LWK jobs that ask for all would be refused",
			   (uintmax_t)promised, (uintmax_t)has);
	else
		check_tell(checking, MS_FINE, "memory", NULL,
			   "RealMemory promises no more than Linux can spare");
}

/* CPU 0 never leaves Linux; a job that gets it has one CPU less for its LWK. */
static void check_cpu_0(struct checking *checking, hwloc_const_bitmap_t reserved, const char *list)
{
	if (hwloc_bitmap_isset(reserved, 0))
		check_tell(checking, MS_FINE, "os-cpus", NULL, "CPUs %s are kept for the system",
			   list);
	else
		check_tell(checking, MS_NOTE, "os-cpus",
			   "write CpuSpecList=0 at this node in slurm.conf (not CoreSpecCount=, "
			   "which takes the last cores), and OsCpus=0 in lwk.conf",
			   "CPU 0 can never go to an LWK, but Slurm gives it to jobs%s%s",
			   *list ? "; CpuSpecList=" : "", list);
}

static void check_reserved(struct checking *checking)
{
	hwloc_bitmap_t reserved = hwloc_bitmap_alloc();
	char list[512] = "", os_cpus[512];
	struct ms_error ignored;
	const struct ms_config *config = checking->config;

	if (!checking->node)
		goto out;
	check_setting(checking->node, "CPUSpecList", list, sizeof(list));
	if (ms_parse_cpus(list, reserved, &ignored) < 0)
		hwloc_bitmap_zero(reserved);
	check_cpu_0(checking, reserved, list);
	if (!config || hwloc_bitmap_isequal(reserved, config->os_cpus))
		goto out;
	hwloc_bitmap_list_snprintf(os_cpus, sizeof(os_cpus), config->os_cpus);
	if (!hwloc_bitmap_isincluded(reserved, config->os_cpus))
		check_tell(checking, MS_NOTE, "os-cpus",
			   "let OsCpus= in lwk.conf name all of CpuSpecList=",
			   "Slurm keeps CPUs %s for the system, lwk.conf CPUs %s", list, os_cpus);
	if (!config->linux_cpus && !hwloc_bitmap_isincluded(config->os_cpus, reserved))
		check_tell(checking, MS_PROBLEM, "os-cpus",
			   "let CpuSpecList= in slurm.conf name all of OsCpus=",
			   "with LinuxCpus=0 the Linux side of LWK jobs runs on CPUs %s, but Slurm "
			   "keeps only CPUs %s for the system: it would disturb other jobs",
			   os_cpus, list);
out:
	hwloc_bitmap_free(reserved);
}

void check_slurm_node(struct checking *checking)
{
	check_partitions(checking);
	check_reserved(checking);
	check_real_memory(checking);
}
