// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps lent CPUs in the cpusets they are in. A version 1 cpuset hierarchy, as
 * distributions mount it, takes a CPU that goes off-line out of every cpuset for
 * good, and lets nobody write the number of one that is off-line: jobs that begin
 * during or after an LWK job would fail. With the mount option cpuset_v2_mode
 * cpusets keep what was written into them, and only their effective CPUs change;
 * but that option counts only for the first mount, before there are any cpusets.
 *
 * The mode is one flag of the hierarchy, which the kernel looks at whenever it
 * matters (is_in_v2_mode() in kernel/cgroup/cpuset.c), and a mount with the option
 * does two things: it sets the flag and calls the controller's bind(), which opens
 * the root cpuset to all CPUs and nodes that are possible. So we do the same.
 *
 * Nobody takes it back, until the hierarchy is unmounted. Cpusets of this mode may
 * hold CPUs that are off-line, which the other mode takes for a bug (WARN_ON() in
 * update_cpumasks_hier()), and hotplug work that is queued just then, of a memory
 * block perhaps, would take the lent CPUs out after all: no lock that a module can
 * hold keeps it away.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/cgroup.h>

#include "lending/cpuset.h"

#ifdef CONFIG_CPUSETS
/* The version 1 hierarchy that has the cpusets, with a reference; or NULL. */
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

	/* A remount writes other flags of the same word. */
	do {
		flags = READ_ONCE(root->flags);
		with = flags | CGRP_ROOT_CPUSET_V2_MODE;
	} while (flags != with && cmpxchg(&root->flags, flags, with) != flags);
	if (flags != with)
		pr_info("the cpuset hierarchy has the mode cpuset_v2_mode from now on, so that CPUs and memory nodes that are lent stay in their cpusets\n");
}

void cpusets_keep_lent(void)
{
	struct cgroup_root *root = get_hierarchy();
	struct cgroup_subsys_state *css;

	if (!root)
		return;
	/* The root cpuset's is never freed; NULL: it goes to another hierarchy just now. */
	css = rcu_access_pointer(root->cgrp.subsys[cpuset_cgrp_id]);
	if (css) {
		set_flag(root);
		/* Each time: hotplug work that began before may have narrowed the root again. */
		css->ss->bind(css);
	}
	cgroup_put(&root->cgrp);
}
#else
void cpusets_keep_lent(void)
{
}
#endif
