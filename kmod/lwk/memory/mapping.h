/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making, changing and ending mappings. */
#ifndef LWK_MEMORY_MAPPING_H
#define LWK_MEMORY_MAPPING_H

#include "lwk/base/types.h"
#include "lwk/memory/policy.h"
#include "lwk/memory/space.h"

/*
 * The place of a mapping: where room is, where room is below 2 GB, at 'addr' if that is free, or at
 * 'addr' whatever it replaces.
 */
enum placement { PLACE_ANYWHERE, PLACE_LOW, PLACE_EXACT, PLACE_REPLACE };

/*
 * Makes an anonymous mapping and returns its address. -EEXIST: PLACE_EXACT, and it is not free;
 * -ENOMEM, also, without 'overcommit', for more than the partition has; -EINVAL.
 */
s64 space_map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
	      bool overcommit);
/*
 * Makes a mapping of memory that can be shared, with flags, fd and offset as of mmap(2), and
 * returns its address. 0: the pages of this file cannot be shared.
 */
s64 space_map_shared(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
		     u64 flags, u64 fd, u64 offset);
s64 space_unmap(struct space *space, u64 addr, u64 size);
s64 space_protect(struct space *space, u64 addr, u64 size, u32 prot);
/* Gives the pages of a part of one mapping back and keeps the mapping. 0 or -ENOMEM */
s64 space_discard(struct space *space, u64 addr, u64 size);
/* Sets what children get of the range. 0; -EINVAL: FORK_WIPES for shared memory; -ENOMEM. */
s64 space_set_fork(struct space *space, u64 addr, u64 size, enum at_fork how);
/* mremap(2), with flags that go together: the new address, or -ENOMEM, -EFAULT, -EINVAL. */
s64 space_resize(struct space *space, u64 addr, u64 old_size, u64 new_size, u32 flags, u64 place);
/* brk(2): returns the heap's end afterwards. */
u64 space_set_brk(struct space *space, u64 brk);
/* Keeps pages and mappings out of the range. 0, or -EINVAL: it is not free; -ENOMEM. */
s64 space_reserve(struct space *space, u64 addr, u64 size);
/* Notes that the range is a copy of that file, or the file itself, by the proxy's number. */
void space_set_file(struct space *space, u64 addr, u64 size, u32 file, u64 offset);
/*
 * Sets the policy by which new pages of the range are chosen. -EFAULT: not all of the range is
 * mapped; -ENOMEM; -EIO: 'strict', and some of the range is on other nodes.
 */
s64 space_set_policy(struct space *space, u64 addr, u64 size, const struct policy *policy,
		     bool strict);

#endif
