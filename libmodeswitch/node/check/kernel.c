// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what this kernel does not offer: cgroup controllers for the limits of proxies, and
 * interrupts that can be moved.
 */
#include <hwloc.h>

#include "base/cgroup.h"
#include "interrupts/affinity.h"
#include "limits/limits.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "node/check/check.h"

void check_limits(struct checking *checking)
{
	bool required = checking->config && checking->config->proxy_limits_required;
	struct ms_error err;
	char missing[64];

	if (limits_find_missing(missing, sizeof(missing), &err) < 0)
		check_tell(checking, MS_PROBLEM, "limits", "see whether /proc/mounts can be read",
			   "%s", err.text);
	else if (*missing)
		check_tell(checking, required ? MS_PROBLEM : MS_NOTE, "limits",
			   "mount these controllers (cgroup version 1), or boot without "
			   "cgroup_disable= (version 2)",
			   "this node lacks %s (cgroup controllers); %s", missing,
			   required ? "ProxyLimits=require wants them for every LWK job"
				    : "proxies are not limited in these");
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
