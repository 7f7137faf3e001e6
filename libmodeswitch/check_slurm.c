// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what in Slurm's settings would break LWK jobs, or Linux-only jobs beside them.
 */
#include "check.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "files.h"
#include "process.h"

#define SCONTROL "/usr/bin/scontrol"
#define TOOL_MS 20000
#define MB (1UL << 20)
/* Linux's own, whatever jobs have: about what it needs to stay alive and to boot jobs. */
#define LINUX_NEEDS (128 * MB)

static char *ask_scontrol(const char *what, const char *name)
{
	const char *const argv[] = { SCONTROL, "--oneliner", "show", what, name, NULL };
	size_t size = 256 << 10;
	char *output = malloc(size);

	if (output && process_run(argv, clock_ms() + TOOL_MS, output, size) == 0)
		return output;
	free(output);
	return NULL;
}

void check_ask_slurm(struct checking *checking)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	checking->slurm = ask_scontrol("config", NULL);
	if (!checking->slurm)
		return;
	checking->node = *host ? ask_scontrol("node", host) : NULL;
	checking->partitions = ask_scontrol("partition", NULL);
}

/*
 * The value of "KEY = VALUE" in the lines of "show config", or of "KEY=VALUE" among the words
 * of "show node"; "" when it is not there.
 */
static const char *setting(const char *text, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	const char *at = text;

	*value = '\0';
	while (at && (at = strcasestr(at, key))) {
		bool begins = at == text || isspace((unsigned char)at[-1]);
		const char *after = at + length + strspn(at + length, " \t");

		if (begins && *after == '=') {
			after += 1 + strspn(after + 1, " \t");
			snprintf(value, size, "%.*s", (int)strcspn(after, " \t\n"), after);
			break;
		}
		at += length;
	}
	return value;
}

static unsigned long number(const char *text, const char *key)
{
	char value[64];

	return strtoul(setting(text, key, value, sizeof(value)), NULL, 10);
}

/* Is 'word' one of the comma-separated ones? */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		if (strcspn(at, ",") == length && strncasecmp(at, word, length) == 0)
			return true;
	}
	return false;
}

/* A word that a setting must have, or must not have. */
struct word_rule {
	int level; /* when it is broken */
	bool wanted;
	const char *key, *word, *to_do, *consequence;
};

static const struct word_rule word_rules[] = {
	{ MS_PROBLEM, true, "PrologFlags", "Alloc", "write PrologFlags=Alloc,Contain in slurm.conf",
	  "jobs would begin before their LWK has booted" },
	{ MS_PROBLEM, true, "PrologFlags", "Contain",
	  "write PrologFlags=Alloc,Contain in slurm.conf",
	  "the job_container plugin would not be called" },
	{ MS_PROBLEM, true, "SlurmdParameters", "config_overrides",
	  "write SlurmdParameters=config_overrides in slurm.conf",
	  "a node that has lent CPUs or memory would be drained when slurmd registers" },
	/* The SPANK plugin sees to it for srun. */
	{ MS_NOTE, true, "TaskPluginParam", "none", "write TaskPluginParam=none in slurm.conf",
	  "other launchers than srun may bind tasks to CPUs that an LWK has" },
	{ MS_NOTE, true, "TaskPlugin", "task/cgroup",
	  "write TaskPlugin=task/affinity,task/cgroup in slurm.conf",
	  "nothing keeps a job's processes on Linux to its CPUs and memory" },
	{ MS_NOTE, true, "ProctrackType", "proctrack/cgroup",
	  "write ProctrackType=proctrack/cgroup in slurm.conf",
	  "processes that left their session outlive the job, proxies of its LWK too" },
	{ MS_NOTE, true, "ConstrainCores", "yes", "write ConstrainCores=yes in cgroup.conf",
	  "a job's processes on Linux may use other jobs' CPUs" },
	{ MS_NOTE, true, "ConstrainRAMSpace", "yes", "write ConstrainRAMSpace=yes in cgroup.conf",
	  "a job's processes on Linux may use more memory than its LWK has left to them" },
	{ MS_PROBLEM, false, "PreemptMode", "SUSPEND",
	  "write PreemptMode=REQUEUE, CANCEL or OFF in slurm.conf",
	  "an LWK job keeps its CPUs and memory while it is suspended, and other jobs get them "
	  "too" },
	{ MS_PROBLEM, false, "PreemptMode", "GANG",
	  "write PreemptMode=REQUEUE, CANCEL or OFF in slurm.conf",
	  "jobs that take turns on the same CPUs cannot, once one of them has an LWK" },
};

static void check_words(struct checking *checking)
{
	char value[512];

	for (size_t i = 0; i < sizeof(word_rules) / sizeof(*word_rules); i++) {
		const struct word_rule *rule = &word_rules[i];

		setting(checking->slurm, rule->key, value, sizeof(value));
		if (has_word(value, rule->word) == rule->wanted)
			check_tell(checking, MS_FINE, "slurm", NULL, "%s %s %s", rule->key,
				   rule->wanted ? "has" : "is without", rule->word);
		else
			check_tell(checking, rule->level, "slurm", rule->to_do, "%s=%s %s %s: %s",
				   rule->key, value, rule->wanted ? "lacks" : "has", rule->word,
				   rule->consequence);
	}
}

/* task/affinity needs a CPU of the job that is on-line, or every launch fails (FACTS.md 3). */
static void check_task_plugin(struct checking *checking)
{
	char value[512];

	if (!checking->config || checking->config->linux_cpus)
		return;
	setting(checking->slurm, "TaskPlugin", value, sizeof(value));
	if (has_word(value, "task/affinity"))
		check_tell(checking, MS_PROBLEM, "slurm",
			   "write LinuxCpus=1 in lwk.conf, or TaskPlugin=task/cgroup in slurm.conf",
			   "TaskPlugin=%s with LinuxCpus=0: task/affinity starts no task of a job "
			   "that has lent all of its CPUs",
			   value);
	else
		check_tell(checking, MS_FINE, "slurm", NULL, "TaskPlugin=%s suits LinuxCpus=0",
			   value);
}

static void check_container(struct checking *checking)
{
	char value[512], type[512], *last;

	setting(checking->slurm, "JobContainerType", value, sizeof(value));
	setting(checking->slurm, "NamespaceType", type, sizeof(type));
	if (!strstr(value, "lwk"))
		snprintf(value, sizeof(value), "%s", type);
	if (!strstr(value, "lwk")) {
		check_tell(
			checking, MS_PROBLEM, "slurm",
			"write JobContainerType=job_container/lwk in slurm.conf (with Slurm "
			"25.11 and later NamespaceType=namespace/lwk)",
			"the job_container plugin is not configured: nothing would tidy up after "
			"a crash of slurmd");
		return;
	}
	last = strrchr(value, ',');
	if (strstr(last ? last : value, "lwk"))
		check_tell(checking, MS_FINE, "slurm", NULL,
			   "the job_container plugin is configured");
	else
		check_tell(
			checking, MS_PROBLEM, "slurm",
			"name it last, as in JobContainerType=job_container/tmpfs,lwk",
			"JobContainerType=%s: a plugin after lwk replaces the job's private view "
			"of its LWK",
			value);
}

static void check_select(struct checking *checking)
{
	char parameters[512];
	unsigned long threads = checking->node ? number(checking->node, "ThreadsPerCore") : 1;

	setting(checking->slurm, "SelectTypeParameters", parameters, sizeof(parameters));
	if (!strcasestr(parameters, "_MEMORY"))
		check_tell(
			checking, MS_PROBLEM, "slurm",
			"write SelectTypeParameters=CR_Core_Memory in slurm.conf",
			"SelectTypeParameters=%s: Slurm allocates no memory to jobs, so there is "
			"none to give to an LWK",
			parameters);
	else
		check_tell(checking, MS_FINE, "slurm", NULL, "memory is a consumable resource");
	if (threads <= 1)
		return;
	if (strncasecmp(parameters, "CR_CPU", 6) == 0)
		check_tell(checking, MS_PROBLEM, "slurm",
			   "write SelectTypeParameters=CR_Core_Memory in slurm.conf",
			   "SelectTypeParameters=%s on a node with %lu threads per core: a job may "
			   "get half a core, and an LWK shares the other half with a stranger",
			   parameters, threads);
	else
		check_tell(checking, MS_FINE, "slurm", NULL, "jobs get whole cores");
}

/* A batch job that does not start in this time is given up while its LWK still boots. */
static void check_timeouts(struct checking *checking)
{
	static const char *const keys[] = { "BatchStartTimeout", "PrologEpilogTimeout" };
	char to_do[256];

	for (size_t i = 0; checking->config && i < sizeof(keys) / sizeof(*keys); i++) {
		unsigned long seconds = number(checking->slurm, keys[i]);
		unsigned ours = checking->config->switch_timeout_ms / 1000;

		snprintf(to_do, sizeof(to_do),
			 "write %s=%u in slurm.conf, or a lower SwitchTimeout= in lwk.conf",
			 keys[i], 2 * ours);
		/* 0: no number, no limit */
		if (!seconds || seconds > ours)
			check_tell(checking, MS_FINE, "slurm", NULL, "%s leaves time for a switch",
				   keys[i]);
		else
			check_tell(checking, MS_NOTE, "slurm", to_do,
				   "%s=%lu is not more than SwitchTimeout=%u: a switch that takes "
				   "long may be given up half-way",
				   keys[i], seconds, ours);
	}
}

static void check_health(struct checking *checking)
{
	char value[512];

	setting(checking->slurm, "HealthCheckProgram", value, sizeof(value));
	if (*value == '/')
		check_tell(checking, MS_NOTE, "slurm",
			   "let it count CPUs and memory with what 'lwkctl status' says is lent",
			   "HealthCheckProgram=%s must not drain a node for CPUs and memory that "
			   "are lent",
			   value);
}

/* The line of "show partition" of that name; NULL when there is none. */
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

	setting(text, "OverSubscribe", value, sizeof(value));
	setting(text, "PreemptMode", mode, sizeof(mode));
	/* One job at a time is none that shares. */
	forced = strncasecmp(value, "FORCE", 5) == 0 && strcasecmp(value, "FORCE:1") != 0;
	asked = strncasecmp(value, "YES", 3) == 0 && strcasecmp(value, "YES:1") != 0;
	if (forced || asked)
		check_tell(checking, forced ? MS_PROBLEM : MS_NOTE, "partition",
			   "write OverSubscribe=NO or EXCLUSIVE for it in slurm.conf",
			   "partition %s has OverSubscribe=%s: a CPU is given to several jobs%s, "
			   "and an LWK job cannot share its CPUs",
			   name, value, forced ? "" : " that ask for it");
	if (has_word(mode, "SUSPEND") || has_word(mode, "GANG"))
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
	setting(checking->node, "Partitions", names, sizeof(names));
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

/* config_overrides makes Slurm believe whatever slurm.conf says. */
static void check_real_memory(struct checking *checking)
{
	uint64_t has = memory_of_machine() / MB, promised;
	char to_do[128];

	if (!checking->node || has <= LINUX_NEEDS / MB)
		return;
	promised = number(checking->node, "RealMemory") - number(checking->node, "MemSpecLimit");
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

/* CPU 0 never goes; a job that gets it just has less for its LWK. */
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
	setting(checking->node, "CPUSpecList", list, sizeof(list));
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

/*
 * Looks for our plugin in plugstack.conf and what it includes. Of an optional plugin Slurm
 * ignores the refusals: a job that cannot have its LWK would run on Linux without a word.
 */
static bool stack_has_plugin(const char *path, int depth)
{
	FILE *file = fopen(path, "re");
	char line[4096], word[4096], argument[4096];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		glob_t files;

		if (sscanf(line, "%4095s %4095s", word, argument) != 2)
			continue;
		if (strcmp(word, "include") == 0 && depth < 4 &&
		    glob(argument, 0, NULL, &files) == 0) {
			for (size_t i = 0; i < files.gl_pathc; i++)
				found |= stack_has_plugin(files.gl_pathv[i], depth + 1);
			globfree(&files);
		} else if (strcmp(word, "required") == 0) {
			const char *base = strrchr(argument, '/');

			found = strcmp(base ? base + 1 : argument, "lwk.so") == 0;
		}
	}
	if (file)
		fclose(file);
	return found;
}

static void check_plugstack(struct checking *checking)
{
	char path[512] = "/etc/slurm/plugstack.conf", set[512] = "";

	if (checking->slurm)
		setting(checking->slurm, "PlugStackConfig", set, sizeof(set));
	if (*set == '/')
		snprintf(path, sizeof(path), "%s", set);
	if (stack_has_plugin(path, 0))
		check_tell(checking, MS_FINE, "plugstack", NULL, "%s loads lwk.so", path);
	else
		check_tell(
			checking, MS_PROBLEM, "plugstack", "add the line: required lwk.so",
			"%s does not require lwk.so: Slurm would not know --lwk, or ignore refusals",
			path);
}

void check_slurm(struct checking *checking)
{
	check_plugstack(checking);
	if (!checking->slurm) {
		check_tell(checking, MS_PROBLEM, "slurm",
			   "start slurmctld, or run this where 'scontrol show config' works",
			   "'scontrol show config' gives no answer, so Slurm's settings are not "
			   "checked");
		return;
	}
	check_words(checking);
	check_task_plugin(checking);
	check_container(checking);
	check_select(checking);
	check_timeouts(checking);
	check_health(checking);
	check_partitions(checking);
	check_reserved(checking);
	check_real_memory(checking);
}
