// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps lent CPUs in the cpusets they are in. A version 1 cpuset hierarchy, as distributions
 * mount it, removes a CPU that goes off-line from every cpuset for good, and refuses to write
 * the number of an off-line CPU: jobs that begin during or after an LWK job would fail. With the
 * mount option cpuset_v2_mode cpusets keep what was written into them, and only their effective
 * CPUs change. But the option counts only for the first mount, before there are any cpusets.
 *
 * The mode is one flag of the hierarchy, which the kernel reads wherever it matters
 * (is_in_v2_mode() in kernel/cgroup/cpuset.c). A mount with the option sets the flag and calls
 * the controller's bind(), which opens the root cpuset to all possible CPUs and nodes. This file
 * does the same with a hierarchy that is mounted already.
 *
 * The mode stays until the hierarchy is unmounted, also after the module has left. Cpusets in
 * this mode may hold CPUs that are off-line, which the other mode treats as a bug (WARN_ON() in
 * update_cpumasks_hier()); and hotplug work that is queued at that moment, for a memory block
 * perhaps, would remove the lent CPUs, because no lock that a module can take excludes it.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "lending/cpuset.h"

#include <linux/cgroup.h>

#ifdef CONFIG_CPUSETS
/* The version 1 hierarchy of the cpusets, with a reference; or NULL. */
static struct cgroup_root *get_hierarchy(void)
{
	struct cgroup_root *root;

	rcu_read_lock();
	root = task_css(current, cpuset_cgrp_id)->cgroup->root;
	if (root == &cgrp_dfl_root || !cgroup_tryget(&root->cgrp))
		root = NULL;
	rcu_read_unlock();
	return root;
}

static void set_flag(struct cgroup_root *root)
{
	unsigned int flags, with;

	/* A remount may write other flags of the same word meanwhile. */
	do {
		flags = READ_ONCE(root->flags);
		with = flags | CGRP_ROOT_CPUSET_V2_MODE;
	} while (flags != with && cmpxchg(&root->flags, flags, with) != flags);
	if (flags != with)
		pr_info("the cpuset hierarchy is in cpuset_v2_mode from now on, so that lent CPUs and memory nodes stay in their cpusets\n");
}

void cpusets_keep_lent(void)
{
	struct cgroup_root *root = get_hierarchy();
	struct cgroup_subsys_state *css;

	if (!root)
		return;
	/* The root's is never freed. NULL: the controller is on its way to another hierarchy. */
	css = rcu_access_pointer(root->cgrp.subsys[cpuset_cgrp_id]);
	if (css) {
		set_flag(root);
		/* Also when the flag was set: earlier hotplug work may have narrowed the root. */
		css->ss->bind(css);
	}
	cgroup_put(&root->cgrp);
}
#else
void cpusets_keep_lent(void)
{
}
#endif
