/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NUMA nodes that a process's pages come from. */
#ifndef LWK_MEMORY_POLICY_H
#define LWK_MEMORY_POLICY_H

#include "lwk/base/types.h"

/* A policy of set_mempolicy(2). */
struct policy {
	u32 mode;
	u64 nodes;
};

/* A page comes from 'node' if that has one, then from one of 'nodes'. */
struct choice {
	u32 node;
	u64 nodes;
};

struct choice policy_choice(const struct policy *policy, u64 addr);

#endif
