// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what this kernel does not offer: cgroup controllers for the limits of proxies, interrupts
 * that can be moved, and the internals that lwkpart.ko uses; and for what it does about the CPUs'
 * vulnerabilities.
 */
#include <hwloc.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "interrupts/affinity.h"
#include "limits/limits.h"
#include "machine/vulnerabilities.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "node/check/check.h"

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
			   "boot without cgroup_disable= (cgroup version 2), or mount these "
			   "controllers (version 1)",
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

/* The tricks of lwkpart.ko that are off by its parameter, or that this kernel does not allow. */
void check_tricks(struct checking *checking)
{
	char off[256];

	if (kernel_read(off, sizeof(off), "/sys/module/lwkpart/parameters/tricks_off") < 0)
		return;
	if (*off)
		check_tell(
			checking, MS_NOTE, "tricks",
			"nothing need be done: LWK jobs run without them; slurm-lwk-admin(7) says "
			"what is missing, and 'dmesg' why",
			"lwkpart does without these uses of Linux's internals: %s", off);
	else
		check_tell(checking, MS_FINE, "tricks", NULL,
			   "lwkpart can use all of Linux's internals that it knows");
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
