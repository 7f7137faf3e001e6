// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what this kernel does not offer: cgroup controllers for the limits of proxies,
 * interrupts that can be moved, and the internals that lwkpart.ko uses; and for what it does about
 * the CPUs' vulnerabilities.
 */
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "interrupts/affinity.h"
#include "limits/limits.h"
#include "machine/vulnerabilities.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"

/* Each controller is in one version of cgroups, and Slurm, systemd and we look for all in one. */
void check_cgroups(struct checking *checking)
{
	static const char *const controllers[] = { "cpuset", "cpu", "memory", "pids" };
	char of_version_1[64] = "", plugin[512] = "";
	unsigned version = cgroup2_is_used() ? 2 : 1;
	struct hierarchy hierarchy;

	for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++) {
		size_t length = strlen(of_version_1);

		if (hierarchy_find(controllers[i], &hierarchy) == 0 && !hierarchy.version_2)
			snprintf(of_version_1 + length, sizeof(of_version_1) - length, "%s%s",
				 length ? ", " : "", controllers[i]);
	}
	if (checking->slurm)
		check_setting(checking->slurm, "CgroupPlugin", plugin, sizeof(plugin));
	if (version == 2 && *of_version_1)
		check_tell(
			checking, MS_PROBLEM, "cgroups",
			"boot with systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all, and mount "
			"nothing of version 1",
			"cgroup version 2 is mounted at " CGROUP2_MOUNT
			", but version 1 has these controllers: %s; jobs and proxies are not "
			"limited in them",
			of_version_1);
	else if ((version == 1 && strstr(plugin, "v2")) || (version == 2 && strstr(plugin, "v1")))
		check_tell(checking, MS_PROBLEM, "cgroups",
			   "write CgroupPlugin=autodetect in cgroup.conf",
			   "CgroupPlugin=%s, but this node uses cgroup version %u: slurmd does not "
			   "start, or limits nothing",
			   plugin, version);
	else
		check_tell(checking, MS_FINE, "cgroups", NULL, "version %u only", version);
}

void check_limits(struct checking *checking)
{
	bool required = checking->config && checking->config->proxy_limits_required;
	int level = required ? MS_PROBLEM : MS_NOTE;
	const char *loss = required ? "ProxyLimits=require wants them for every LWK job"
				    : "proxies are not limited in these";
	char missing[64];

	limits_find_missing(missing, sizeof(missing));
	if (limits_want_libcgroup())
		check_tell(checking, level, "limits",
			   "boot with cgroup version 2, or install slurm-lwk built with libcgroup",
			   "this node has cgroup version 1, and slurm-lwk is built without "
			   "libcgroup: it cannot use the controllers %s; %s",
			   missing, loss);
	else if (*missing)
		check_tell(checking, level, "limits",
			   cgroup2_is_used()
				   ? "boot without cgroup_disable="
				   : "mount these controllers of version 1; kernels without "
				     "CONFIG_CPUSETS_V1 and CONFIG_MEMCG_V1, as Debian's since "
				     "6.12, have them with version 2 only: boot with "
				     "systemd.unified_cgroup_hierarchy=1",
			   "this node lacks %s (cgroup controllers); %s", missing, loss);
	else
		check_tell(checking, MS_FINE, "limits", NULL,
			   "there are cgroup controllers for the proxies' limits (version %d)",
			   cgroup2_is_used() ? 2 : 1);
}

/* Looks at the interrupts of CPUs that jobs may have. */
void check_interrupts(struct checking *checking)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc_full();
	char names[512];

	if (cpus && checking->config) {
		hwloc_bitmap_andnot(cpus, cpus, checking->config->os_cpus);
		interrupts_managed(cpus, names, sizeof(names));
		if (*names)
			check_tell(
				checking, MS_NOTE, "interrupts",
				"nothing need be done: they leave with the LWK's CPUs; to have "
				"them on OS CPUs only, give the device fewer queues (its driver's "
				"or the hypervisor's option), or boot with isolcpus=managed_irq,LIST",
				"the kernel itself places these interrupts, and nobody can move them: %s",
				names);
		else
			check_tell(checking, MS_FINE, "interrupts", NULL,
				   "every interrupt can be moved to OS CPUs");
	}
	hwloc_bitmap_free(cpus);
}

/*
 * The module refuses a kernel that uses FRED, because it wakes its CPUs by the IDT. Linux shows the
 * flag only when it uses FRED.
 */
void check_fred(struct checking *checking)
{
	char path[4096], line[8192];
	bool used = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", files_root);
	file = fopen(path, "re");
	while (file && !used && fgets(line, sizeof(line), file))
		used = strncmp(line, "flags", strlen("flags")) == 0 && strstr(line, " fred ");
	if (file)
		fclose(file);
	if (used)
		check_tell(checking, MS_PROBLEM, "cpu", "boot with fred=off",
			   "Linux uses FRED (flexible return and event delivery), and lwkpart.ko "
			   "cannot lend CPUs then: LWK jobs are refused");
}

/* Each row says what LWK jobs lose when lwkpart.ko does without that. */
static const struct loss {
	const char *name, *text;
} losses[] = {
	{ "calls", "delegated calls take longer" },
	{ "crash-stop", "LWKs go on while Linux crashes into a kdump kernel" },
	{ "broadcasts", "interrupts to all CPUs disturb LWK CPUs" },
	{ "cpusets", "cpusets of version 1 lose CPUs that are lent" },
	{ "tlb-flush", "adaptive migration takes some pages in use for unused" },
	{ "cpu-time", "Slurm does not see the CPU time of programs on LWKs" },
	{ "memory", "Slurm does not see the memory of programs on LWKs" },
	{ "file-calls", "each read and write of a file takes longer" },
	{ "file-mappings", "programs that map a disk's file shared end when they touch it" },
};

/* Writes what is lost without each of these, whose names commas separate. */
static void list_losses(const char *names, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses) && at < size; i++) {
		if (check_has_word(names, losses[i].name))
			at += snprintf(text + at, size - at, "; %s", losses[i].text);
	}
}

/* The tricks of lwkpart.ko that are off by its parameter, or that this kernel does not allow. */
void check_tricks(struct checking *checking)
{
	char off[256], text[1024];

	if (kernel_read(off, sizeof(off), "/sys/module/lwkpart/parameters/tricks_off") < 0)
		return;
	list_losses(off, text, sizeof(text));
	if (*off)
		check_tell(
			checking, MS_NOTE, "tricks",
			"nothing need be done: LWK jobs run without them; slurm-lwk-admin(7) says "
			"more, and 'dmesg' why",
			"lwkpart does without these uses of Linux's internals: %s%s", off, text);
	else
		check_tell(checking, MS_FINE, "tricks", NULL,
			   "lwkpart can use all of Linux's internals that it knows");
}

/* Tells of what lwkpart.ko does without, because the kernel is too old. */
void check_age(struct checking *checking)
{
	char lacks[256], text[1024];

	if (kernel_read(lacks, sizeof(lacks), "/sys/module/lwkpart/parameters/lacks") < 0 ||
	    !*lacks)
		return;
	list_losses(lacks, text, sizeof(text));
	check_tell(checking, MS_NOTE, "kernel",
		   "nothing need be done; a newer kernel has these, too",
		   "expected what lwkpart can use of Linux 5.10 and later, found a kernel too old "
		   "for %s%s",
		   lacks, text + strlen(";"));
}

void check_vulnerabilities(struct checking *checking)
{
	bool accept = checking->config && checking->config->accept_vulnerabilities;
	char names[1024];
	int n = vulnerabilities_open(names, sizeof(names));

	if (n < 0)
		check_tell(checking, MS_NOTE, "cpu",
			   "use a kernel that tells of the CPUs' vulnerabilities",
			   "this kernel does not tell which vulnerabilities its CPUs have");
	else if (n)
		check_tell(checking, accept ? MS_NOTE : MS_PROBLEM, "cpu",
			   "use a release of slurm-lwk that knows them, or say "
			   "Vulnerabilities=accept in lwk.conf if programs may use them",
			   "Linux does something about these vulnerabilities of the CPUs, and LWKs "
			   "do nothing: %s; %s",
			   names,
			   accept ? "Vulnerabilities=accept has LWK jobs run"
				  : "LWK jobs are refused");
	else
		check_tell(checking, MS_FINE, "cpu", NULL,
			   "whatever vulnerabilities these CPUs have, LWKs do what is needed");
}
