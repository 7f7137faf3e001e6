// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for Slurm's settings that would break LWK jobs, or Linux-only jobs beside them.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "modeswitch/config.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"

/* A word that a setting must have, or must not have. */
struct word_rule {
	int level; /* when it is broken */
	bool wanted;
	const char *key, *word;
	/* The remedy: lines for 'file', or without a file what to do. */
	const char *file, *lines, *consequence;
};

#define SLURM_CONF "slurm.conf"
#define CGROUP_CONF "cgroup.conf"

static const struct word_rule word_rules[] = {
	{ MS_PROBLEM, true, "PrologFlags", "Alloc", SLURM_CONF, "PrologFlags=Alloc,Contain",
	  "jobs would begin before their LWK has booted" },
	{ MS_PROBLEM, true, "PrologFlags", "Contain", SLURM_CONF, "PrologFlags=Alloc,Contain",
	  "the job_container plugin would not be called" },
	{ MS_PROBLEM, true, "SlurmdParameters", "config_overrides", SLURM_CONF,
	  "SlurmdParameters=config_overrides",
	  "a node that has lent CPUs or memory would be drained when slurmd registers" },
	/* For srun the SPANK plugin does that (cpu_binding.c). */
	{ MS_NOTE, true, "TaskPluginParam", "none", SLURM_CONF, "TaskPluginParam=none",
	  "other launchers than srun may bind tasks to CPUs that an LWK has" },
	{ MS_NOTE, true, "TaskPlugin", "task/cgroup", SLURM_CONF,
	  "TaskPlugin=task/affinity,task/cgroup",
	  "nothing keeps a job's processes on Linux to its CPUs and memory" },
	{ MS_NOTE, true, "ProctrackType", "proctrack/cgroup", SLURM_CONF,
	  "ProctrackType=proctrack/cgroup",
	  "processes that left their session outlive the job, proxies of its LWK too" },
	{ MS_NOTE, true, "ConstrainCores", "yes", CGROUP_CONF, "ConstrainCores=yes",
	  "a job's processes on Linux may use other jobs' CPUs" },
	{ MS_NOTE, true, "ConstrainRAMSpace", "yes", CGROUP_CONF, "ConstrainRAMSpace=yes",
	  "a job's processes on Linux may use more memory than its LWK has left to them" },
	{ MS_PROBLEM, false, "PreemptMode", "SUSPEND", NULL,
	  "write PreemptMode=REQUEUE, CANCEL or OFF in slurm.conf",
	  "an LWK job keeps its CPUs and memory while it is suspended, and other jobs get them "
	  "too" },
	{ MS_PROBLEM, false, "PreemptMode", "GANG", NULL,
	  "write PreemptMode=REQUEUE, CANCEL or OFF in slurm.conf",
	  "jobs that take turns on the same CPUs cannot, once one of them has an LWK" },
};

/* Lists of flags, to which a site may have given more words than LWK jobs need. */
static bool is_list(const char *key)
{
	return strcmp(key, "PrologFlags") == 0 || strcmp(key, "SlurmdParameters") == 0;
}

static void tell_broken_rule(struct checking *checking, const struct word_rule *rule,
			     const char *value)
{
	char line[1200], site[512];
	char *rest = site, *word;
	size_t length = snprintf(line, sizeof(line), "%s", rule->lines);

	/* "(null)" is how Slurm says that there is no value. */
	snprintf(site, sizeof(site), "%s", is_list(rule->key) && *value != '(' ? value : "");
	while ((word = strsep(&rest, ",")))
		if (*word && !check_has_word(strchr(rule->lines, '=') + 1, word))
			length += snprintf(line + length, sizeof(line) - length, ",%s", word);
	if (rule->file)
		check_tell_lines(checking, rule->level, "slurm", line, rule->file,
				 "%s=%s %s %s: %s", rule->key, value,
				 rule->wanted ? "lacks" : "has", rule->word, rule->consequence);
	else
		check_tell(checking, rule->level, "slurm", rule->lines, "%s=%s %s %s: %s",
			   rule->key, value, rule->wanted ? "lacks" : "has", rule->word,
			   rule->consequence);
}

static void check_words(struct checking *checking)
{
	char value[512];

	for (size_t i = 0; i < sizeof(word_rules) / sizeof(*word_rules); i++) {
		const struct word_rule *rule = &word_rules[i];

		check_setting(checking->slurm, rule->key, value, sizeof(value));
		if (check_has_word(value, rule->word) == rule->wanted)
			check_tell(checking, MS_FINE, "slurm", NULL, "%s %s %s", rule->key,
				   rule->wanted ? "has" : "is without", rule->word);
		else
			tell_broken_rule(checking, rule, value);
	}
}

/* task/affinity fails every launch of a job that has no CPU on-line. */
static void check_task_plugin(struct checking *checking)
{
	char value[512];

	if (!checking->config || checking->config->linux_cpus)
		return;
	check_setting(checking->slurm, "TaskPlugin", value, sizeof(value));
	if (check_has_word(value, "task/affinity"))
		check_tell(checking, MS_PROBLEM, "slurm",
			   "write LinuxCpus=1 in lwk.conf, or TaskPlugin=task/cgroup in slurm.conf",
			   "TaskPlugin=%s with LinuxCpus=0: task/affinity starts no task of a job "
			   "that has lent all of its CPUs",
			   value);
	else
		check_tell(checking, MS_FINE, "slurm", NULL, "TaskPlugin=%s suits LinuxCpus=0",
			   value);
}

/* Slurm 25.11 made job_container plugins namespace plugins. */
static const char *container_line(const struct checking *checking)
{
	char version[64];
	unsigned major = 0, minor = 0;

	check_setting(checking->slurm, "SLURM_VERSION", version, sizeof(version));
	sscanf(version, "%u.%u", &major, &minor);
	return major * 100 + minor >= 2511 ? "NamespaceType=namespace/lwk"
					   : "JobContainerType=job_container/lwk";
}

static void check_container(struct checking *checking)
{
	char value[512], type[512], *last;

	check_setting(checking->slurm, "JobContainerType", value, sizeof(value));
	check_setting(checking->slurm, "NamespaceType", type, sizeof(type));
	if (!strstr(value, "lwk"))
		snprintf(value, sizeof(value), "%s", type);
	if (!strstr(value, "lwk")) {
		check_tell_lines(
			checking, MS_PROBLEM, "slurm", container_line(checking), SLURM_CONF,
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
	unsigned long threads = checking->node ? check_number(checking->node, "ThreadsPerCore") : 1;

	check_setting(checking->slurm, "SelectTypeParameters", parameters, sizeof(parameters));
	if (!strcasestr(parameters, "_MEMORY"))
		check_tell_lines(
			checking, MS_PROBLEM, "slurm", "SelectTypeParameters=CR_Core_Memory",
			SLURM_CONF,
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

/* Slurm gives up a batch job that does not start in this time, though its LWK still boots. */
static void check_timeouts(struct checking *checking)
{
	/* The last two are of Slurm 25.05 and newer. */
	static const char *const keys[] = { "BatchStartTimeout", "PrologEpilogTimeout",
					    "PrologTimeout", "EpilogTimeout" };
	char to_do[256], value[64];

	for (size_t i = 0; checking->config && i < sizeof(keys) / sizeof(*keys); i++) {
		unsigned long seconds = check_number(checking->slurm, keys[i]);
		unsigned ours = checking->config->switch_timeout_ms / 1000;

		if (!*check_setting(checking->slurm, keys[i], value, sizeof(value)))
			continue;
		snprintf(to_do, sizeof(to_do),
			 "write %s=%u in slurm.conf, or a lower SwitchTimeout= in lwk.conf",
			 keys[i], 2 * ours);
		/* 0 stands for no number, which is no limit. */
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

	check_setting(checking->slurm, "HealthCheckProgram", value, sizeof(value));
	/* Our own only sets a feature. */
	if (*value == '/' && strcmp(strrchr(value, '/'), "/lwk-feature") != 0)
		check_tell(checking, MS_NOTE, "slurm",
			   "let it count CPUs and memory with what 'lwkctl status' says is lent",
			   "HealthCheckProgram=%s must not drain a node for CPUs and memory that "
			   "are lent",
			   value);
}

void check_settings(struct checking *checking)
{
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
}
