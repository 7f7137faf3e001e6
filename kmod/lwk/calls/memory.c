/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/local.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mempolicy.h>
#include <linux/mman.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwk/calls/table.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/fault.h"
#include "lwk/memory/mapping.h"
#include "lwk/memory/share.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/watch/console.h"

/* The flags of mmap(2) that MAP_SHARED_VALIDATE accepts. */
#define MAP_KNOWN                                                                                  \
	(MAP_TYPE | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_GROWSDOWN |              \
	 MAP_DENYWRITE | MAP_EXECUTABLE | MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE |              \
	 MAP_NONBLOCK | MAP_STACK | MAP_HUGETLB | MAP_32BIT)

/* True when the file is open for reading or writing, and not by O_PATH only. */
static bool is_open(u64 fd)
{
	s64 flags = channel_call(MEMORY, __NR_fcntl, fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH);
}

/*
 * A private file mapping is a copy, read at once, because the pages of the file's cache are
 * Linux's. So is a read-only mapping of a file whose pages cannot be shared. The pages are made
 * before Linux writes into them, because it would ask for them one by one.
 */
static s64 map_file(struct space *space, u64 addr, u64 size, u32 prot, u64 fd, u64 offset)
{
	s64 result = 0;

	for (u64 done = 0; done < size; done += result) {
		u64 part = MIN(size - done, LARGE_SIZE);

		result = space_populate(space, addr + done, part);
		if (result)
			break;
		/* Linux may let a signal end the read of a file of FUSE. */
		while ((result = channel_call(MEMORY, __NR_pread64, fd, addr + done, part,
					      offset + done)) == -EINTR)
			signal_collect();
		if (result <= 0)
			break;
	}
	if (result >= 0)
		result = space_protect(space, addr, size, prot);
	if (result < 0)
		space_unmap(space, addr, size);
	if (result == -EBADF && is_open(fd))
		return -EACCES;
	/* Pipes, sockets and directories cannot be read at an offset, so they cannot be mapped. */
	if (result == -ESPIPE || result == -EISDIR)
		return -ENODEV;
	return result < 0 ? (result == -EFAULT ? -ENOMEM : result) : (s64)addr;
}

/* Remembers the file of a mapping, for /proc/PID/maps. Linux looks at the file first. */
static s64 name_mapping(s64 addr, u64 size, u64 fd, u64 offset)
{
	s64 file = addr > 0 ? channel_call(MEMORY, LWK_CALL_FILE, fd) : 0;

	if (addr == -EINVAL && !is_open(fd))
		return -EBADF;
	if (file > 0)
		space_set_file(&this_process()->space, addr, size, file, offset);
	return addr;
}

s64 sys_mmap(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 size = frame->rsi, prot = frame->rdx & PROT_ALL, flags = frame->r10;
	enum placement placement = flags & MAP_FIXED_NOREPLACE ? PLACE_EXACT
				   : flags & MAP_FIXED	       ? PLACE_REPLACE
				   : flags & MAP_32BIT	       ? PLACE_LOW
							       : PLACE_ANYWHERE;
	bool file = !(flags & MAP_ANONYMOUS), shared = flags & MAP_SHARED, copied;
	s64 addr = 0;

	if (!(flags & MAP_TYPE))
		return -EINVAL;
	if ((flags & MAP_TYPE) == MAP_SHARED_VALIDATE && flags & ~(u64)MAP_KNOWN)
		return -EOPNOTSUPP;
	if (flags & MAP_HUGETLB)
		return -ENOMEM; /* there is no pool of large pages; they come by themselves */
	if (file && frame->r9 % PAGE_SIZE)
		return -EINVAL;
	if (shared)
		addr = space_map_shared(space, frame->rdi, size, prot, placement, flags, frame->r8,
					frame->r9);
	if (!addr && shared && prot & PROT_WRITE) {
		print("pid %u: mmap of a file, shared and writable: expected a file on a disk or tmpfs, found another one; map it private",
		      this_process()->pid);
		return -ENODEV;
	}
	copied = file && !addr;
	if (!addr)
		addr = space_map(space, frame->rdi, size, file ? PROT_READ | PROT_WRITE : prot,
				 placement, flags & MAP_NORESERVE);
	if (addr > 0 && copied)
		addr = map_file(space, addr, size, prot, frame->r8, frame->r9);
	else if (addr > 0 && flags & MAP_POPULATE && prot)
		space_populate(space, addr, size);
	return file ? name_mapping(addr, size, frame->r8, frame->r9) : addr;
}

s64 sys_munmap(struct frame *frame)
{
	return space_unmap(&this_process()->space, frame->rdi, frame->rsi);
}

s64 sys_mprotect(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 addr = frame->rdi, size = frame->rsi, prot = frame->rdx;
	struct area area;

	/* The first thread's stack counts as one that grows, though all of it is mapped. */
	if (prot & PROT_GROWSDOWN && addr % PAGE_SIZE == 0 && addr >= MAPPINGS_END && size &&
	    space_find_area(space, addr, &area) && area.start <= addr && !area.file) {
		size += addr - area.start;
		addr = area.start;
		prot &= ~(u64)PROT_GROWSDOWN;
	}
	return space_protect(space, addr, size, prot);
}

/* The calls about protection keys do what Linux does on a CPU without keys. */
s64 sys_pkey_alloc(struct frame *frame)
{
	return frame->rdi || frame->rsi & ~(u64)(PKEY_DISABLE_ACCESS | PKEY_DISABLE_WRITE)
		       ? -EINVAL
		       : -ENOSPC;
}

s64 sys_pkey_free(struct frame *frame)
{
	return -EINVAL;
}

s64 sys_pkey_mprotect(struct frame *frame)
{
	return (u32)frame->r10 == (u32)-1 ? sys_mprotect(frame) : -EINVAL;
}

/* Tells where pages are; they stay there. */
s64 sys_move_pages(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 addr;

	if (frame->r10)
		return refuse(__NR_move_pages);
	if ((u32)frame->rdi && (u32)frame->rdi != this_process()->pid)
		return -EPERM;
	if (frame->r9 & ~(u64)(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	for (u64 i = 0; i < frame->rsi; i++) {
		s32 node;

		if (copy_from_user(&addr, frame->rdx + i * sizeof(addr), sizeof(addr)))
			return -EFAULT;
		node = space_page(space, addr);
		if (node == PAGE_OF_LINUX)
			node = -ENOENT;
		if (copy_to_user(frame->r8 + i * sizeof(node), &node, sizeof(node)))
			return -EFAULT;
		if (i % 512 == 511)
			process_goes_on();
	}
	return 0;
}

s64 sys_brk(struct frame *frame)
{
	return space_set_brk(&this_process()->space, frame->rdi);
}

/* <linux/mman.h> has it since Linux 5.7. */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/*
 * The proxy reads a part of a private mapping of a file; the file may be closed, and gone. Returns
 * the bytes read. Threads that use the part meanwhile find its old bytes or the file's.
 */
static s64 load_file(const struct area *area, u64 start, u64 size)
{
	struct space *space = &this_process()->space;
	s64 n = space_protect(space, start, size, area->prot | PROT_READ | PROT_WRITE);

	if (!n)
		n = channel_call(MEMORY, LWK_CALL_LOAD, area->file, start, size,
				 area->offset + (start - area->start));
	space_protect(space, start, size, area->prot);
	return n;
}

static s64 grow_file(struct frame *frame, struct area *area)
{
	struct space *space = &this_process()->space;
	u64 old_size = ALIGN_UP(frame->rsi, PAGE_SIZE), start;
	u64 more = ALIGN_UP(frame->rdx, PAGE_SIZE) - old_size;
	s64 at = -ENOMEM;

	if (channel_call(MEMORY, LWK_CALL_LOAD, area->file, 0, 0, 0) >= 0)
		at = space_resize(space, frame->rdi, old_size, frame->rdx, frame->r10, frame->r8);
	if (at < 0)
		return at;
	area->offset += frame->rdi - area->start;
	area->start = at;
	start = at + old_size;
	/* Linux, which writes to the pages, would ask for them one by one. */
	space_populate(space, start, more);
	/* As on Linux, a thread that touches a part that cannot be read gets a signal. */
	if (load_file(area, start, more) < 0)
		space_protect(space, start, more, PROT_NONE);
	return at;
}

s64 sys_mremap(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 flags = frame->r10;
	struct area area;

	if (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP) ||
	    (flags && !(flags & MREMAP_MAYMOVE)))
		return -EINVAL;
	if (frame->rdx > ALIGN_UP(frame->rsi, PAGE_SIZE) &&
	    space_find_area(space, frame->rdi, &area) && area.start <= frame->rdi && area.file &&
	    !area.shared)
		return grow_file(frame, &area);
	return space_resize(space, frame->rdi, frame->rsi, frame->rdx, flags, frame->r8);
}

s64 sys_mincore(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 addr = frame->rdi, count = ALIGN_UP(frame->rsi, PAGE_SIZE) / PAGE_SIZE;

	if (addr % PAGE_SIZE)
		return -EINVAL;
	if (frame->rsi > LWK_USER_END ||
	    (count && !space_is_mapped(space, addr, count * PAGE_SIZE)))
		return -ENOMEM;
	for (u64 i = 0; i < count; i++) {
		u8 present = space_page(space, addr + i * PAGE_SIZE) >= 0;

		if (copy_to_user(frame->rdx + i, &present, 1))
			return -EFAULT;
		if (i % 512 == 511)
			process_goes_on();
	}
	return 0;
}

/* Nothing is ever paged out, but what is locked must be there. */
s64 sys_mlock2(struct frame *frame)
{
	struct space *space = &this_process()->space;
	bool now = frame->error == __NR_mlock || !(frame->rdx & MLOCK_ONFAULT);
	u64 addr = ALIGN_DOWN(frame->rdi, PAGE_SIZE);
	u64 size = ALIGN_UP(frame->rdi - addr + frame->rsi, PAGE_SIZE);

	if (size && !space_is_mapped(space, addr, size))
		return -ENOMEM;
	return now && space_populate(space, addr, size) ? -ENOMEM : 0;
}

s64 sys_mlock(struct frame *frame)
{
	return sys_mlock2(frame);
}

/* Linux writes shared pages to their file when it likes; only MS_SYNC waits for that. */
s64 sys_msync(struct frame *frame)
{
	u64 addr = frame->rdi, size = ALIGN_UP(frame->rsi, PAGE_SIZE), flags = frame->rdx;

	if (flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC) || addr % PAGE_SIZE ||
	    (flags & MS_ASYNC && flags & MS_SYNC))
		return -EINVAL;
	if (size && !space_is_mapped(&this_process()->space, addr, size))
		return -ENOMEM;
	return flags & MS_SYNC ? share_sync(addr, addr + size) : 0;
}

/* <linux/mman.h> has it since Linux 5.18. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Bit n: the LWK may ignore the advice n, from MADV_NORMAL to MADV_COLLAPSE. */
#define ADVICE_IGNORED 0x2f3f00fUL

/*
 * Discards memory: threads that touch it find zeros, or what its file has now. -ENOMEM: not all of
 * it is mapped; -EINVAL: a file's, and MADV_FREE is for other memory; -EIO: the file is gone.
 */
static s64 discard(u64 addr, u64 end, bool free)
{
	struct space *space = &this_process()->space;
	bool whole = space_is_mapped(space, addr, end - addr);
	struct area area;
	s64 n;

	for (; space_find_area(space, addr, &area) && area.start < end; addr = area.end) {
		u64 start = MAX(addr, area.start), stop = MIN(end, area.end);

		if (free && (area.file || area.shared))
			return -EINVAL;
		if (area.file && !area.shared) {
			n = load_file(&area, start, stop - start);
			if (n < 0)
				return -EIO;
			start += ALIGN_UP(n, PAGE_SIZE);
		}
		n = start < stop ? space_discard(space, start, stop - start) : 0;
		if (n)
			return n;
		process_goes_on();
	}
	return whole ? 0 : -ENOMEM;
}

s64 sys_madvise(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 addr = frame->rdi, size = ALIGN_UP(frame->rsi, PAGE_SIZE);

	if (addr % PAGE_SIZE)
		return -EINVAL;
	switch ((s32)frame->rdx) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
	case MADV_FREE:
		return size ? discard(addr, addr + size, frame->rdx == MADV_FREE) : 0;
	case MADV_WIPEONFORK:
		return space_set_fork(space, addr, size, FORK_WIPES);
	case MADV_DONTFORK:
		return space_set_fork(space, addr, size, FORK_LEAVES);
	case MADV_KEEPONFORK:
	case MADV_DOFORK:
		return space_set_fork(space, addr, size, FORK_COPIES);
	default:
		if (frame->rdx >= 64 || !(ADVICE_IGNORED >> frame->rdx & 1))
			return -EINVAL;
		return size && !space_is_mapped(space, addr, size) ? -ENOMEM : 0;
	}
}
