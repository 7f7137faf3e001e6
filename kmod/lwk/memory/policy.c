/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of the NUMA nodes that a process's pages come from: set_mempolicy(2), mbind(2) and
 * get_mempolicy(2), of the nodes on which the partition has memory. Without a policy, pages come
 * from the CPU's own node, then any. A page stays where it is: MPOL_MF_MOVE promises a move only
 * with MPOL_MF_STRICT, on Linux too.
 */
#include "lwk/memory/policy.h"

#include <linux/errno.h>
#include <linux/mempolicy.h>

#include "lwk/calls/local.h"
#include "lwk/machine/boot.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/mapping.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"

/* <linux/mempolicy.h> has these since Linux 5.12 and 5.15, the mode as one of an enumeration. */
#ifndef MPOL_F_NUMA_BALANCING
#define MPOL_F_NUMA_BALANCING (1 << 13)
#endif
#define PREFERRED_MANY 5

/* The LWK accepts these flags of a mode, which make no difference to it. */
#define MODE_FLAGS (MPOL_F_STATIC_NODES | MPOL_F_NUMA_BALANCING)

static u64 partition_nodes(void)
{
	u64 nodes = 0;

	for (u32 i = 0; i < boot->n_mem; i++)
		if (boot->mem[i].node < 64)
			nodes |= 1UL << boot->mem[i].node;
	return nodes;
}

/* Returns node 'number' of the set, counted from 0, and from the first again after the last. */
static u32 nth_node(u64 nodes, u64 number)
{
	u32 count = 0;

	for (u64 rest = nodes; rest; rest &= rest - 1)
		count++;
	for (number %= count; number; number--)
		nodes &= nodes - 1;
	return __builtin_ctzl(nodes);
}

struct choice policy_choice(const struct policy *policy, u64 addr)
{
	struct choice choice = { this_slot()->node, ~0UL };
	u32 mode = READ_ONCE(policy->mode);
	/* The slot of a thread that ends may be another thread's already, which clears it. */
	u64 nodes = READ_ONCE(policy->nodes);

	if (!nodes)
		return choice;
	if (mode == MPOL_INTERLEAVE)
		/* The unit is a large page, because most memory comes in these. */
		choice.node = nth_node(nodes, addr / LARGE_SIZE);
	else if (mode == MPOL_PREFERRED || choice.node >= 64 || !(nodes & 1UL << choice.node))
		choice.node = __builtin_ctzl(nodes);
	if (mode == MPOL_BIND)
		choice.nodes = nodes;
	return choice;
}

/* Reads a mask of maxnode - 1 bits, as Linux counts them. 0, -EFAULT, -EINVAL */
static s64 read_nodes(u64 address, u64 maxnode, u64 *nodes)
{
	u64 bits = maxnode ? maxnode - 1 : 0, word;

	*nodes = 0;
	if (!address)
		return 0;
	if (bits > PAGE_SIZE * 8)
		return -EINVAL;
	for (u64 at = 0; at < bits; at += 64) {
		if (copy_from_user(&word, address + at / 8, sizeof(word)))
			return -EFAULT;
		if (bits - at < 64)
			word &= (1UL << (bits - at)) - 1;
		if (at && word)
			return -EINVAL;
		*nodes |= word;
	}
	return 0;
}

/* Reads and checks the policy that a program asks for. 0, -EFAULT, -EINVAL */
static s64 read_policy(u64 mode, u64 address, u64 maxnode, struct policy *policy)
{
	s64 error = read_nodes(address, maxnode, &policy->nodes);
	bool none = !policy->nodes;

	if (error)
		return error;
	policy->mode = mode & ~MODE_FLAGS;
	switch (policy->mode) {
	case MPOL_DEFAULT:
	case MPOL_LOCAL:
		return none ? 0 : -EINVAL;
	case MPOL_PREFERRED:
		if (none) {
			policy->mode = MPOL_LOCAL;
			return 0;
		}
		break;
	case MPOL_BIND:
	case MPOL_INTERLEAVE:
	case PREFERRED_MANY:
		break;
	default:
		return -EINVAL;
	}
	policy->nodes &= partition_nodes();
	return policy->nodes ? 0 : -EINVAL;
}

s64 sys_set_mempolicy(struct frame *frame)
{
	struct policy policy;
	s64 error = read_policy((u32)frame->rdi, frame->rsi, frame->rdx, &policy);

	if (!error)
		this_thread()->policy = policy;
	return error;
}

s64 sys_mbind(struct frame *frame)
{
	u64 addr = frame->rdi, size = ALIGN_UP(frame->rsi, PAGE_SIZE), flags = (u32)frame->r9;
	struct space *space = &this_process()->space;
	struct policy policy;
	s64 error;

	if (flags & ~(MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL) || addr % PAGE_SIZE)
		return -EINVAL;
	if (flags & MPOL_MF_MOVE_ALL)
		return -EPERM;
	error = read_policy((u32)frame->rdx, frame->r10, frame->r8, &policy);
	if (error || !size)
		return error;
	return space_set_policy(space, addr, size, &policy, flags & MPOL_MF_STRICT);
}

static s64 write_nodes(u64 address, u64 maxnode, u64 nodes)
{
	u64 bytes = ALIGN_UP(maxnode - 1, 64) / 8, zero = 0;

	for (u64 at = 0; at < bytes; at += sizeof(u64))
		if (copy_to_user(address + at, at ? &zero : &nodes, sizeof(u64)))
			return -EFAULT;
	return 0;
}

/* Returns the node of the page at addr, which is made if it is not there; or -EFAULT. */
static s64 node_at(u64 addr)
{
	struct space *space = &this_process()->space;
	s64 node = space_fault(space, addr, false, false, true) ? -EFAULT : space_page(space, addr);

	return node == PAGE_OF_LINUX ? -EFAULT : node;
}

s64 sys_get_mempolicy(struct frame *frame)
{
	u64 maxnode = frame->rdx, addr = frame->r10, flags = frame->r8, nodes;
	struct policy policy = this_thread()->policy;
	struct area area;
	s64 node;

	if (flags & ~(u64)(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED) ||
	    (flags & MPOL_F_MEMS_ALLOWED && flags & (MPOL_F_NODE | MPOL_F_ADDR)) ||
	    (!(flags & (MPOL_F_MEMS_ALLOWED | MPOL_F_ADDR)) && (addr || flags & MPOL_F_NODE)) ||
	    (frame->rsi && (maxnode < 64 || maxnode > PAGE_SIZE * 8)))
		return -EINVAL;
	if (flags & MPOL_F_MEMS_ALLOWED)
		policy = (struct policy){ MPOL_DEFAULT, partition_nodes() };
	if (flags & MPOL_F_ADDR) {
		if (!space_find_area(&this_process()->space, addr, &area) || area.start > addr)
			return -EFAULT;
		policy = area.policy;
	}
	nodes = policy.nodes;
	if (flags & MPOL_F_NODE) {
		node = node_at(addr);
		if (node < 0)
			return -EFAULT;
		policy.mode = node;
	}
	if (frame->rdi && copy_to_user(frame->rdi, &policy.mode, sizeof(policy.mode)))
		return -EFAULT;
	return frame->rsi ? write_nodes(frame->rsi, maxnode, nodes) : 0;
}
