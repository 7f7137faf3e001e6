/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the LWK process shares with others: we map the file at the process's own address, in
 * the midst of the window, so that Linux has it for delegated calls, and lwkpart.ko for the LWK.
 */
#include <errno.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "lwkexec.h"

/* Nothing but the process's own addresses: the channel can be scribbled on. */
static bool is_process_memory(uint64_t start, uint64_t size)
{
	return start >= LWK_USER_START && start < LWK_USER_END && size <= LWK_USER_END - start;
}

int64_t share_begin(const uint64_t args[6])
{
	int flags = MAP_SHARED | MAP_FIXED | (args[3] & (MAP_ANONYMOUS | MAP_NORESERVE));
	uint64_t start = args[0], size = args[1];
	struct statfs where;
	int fd = args[4];

	if (!is_process_memory(start, size))
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		if (channel_owns(fd) || fstatfs(fd, &where))
			return -EBADF;
		if (where.f_type != TMPFS_MAGIC)
			return 1;
	}
	return mmap((void *)start, size, args[2], flags, fd, args[5]) == MAP_FAILED ? -errno : 0;
}

int64_t share_grant(void)
{
	return ioctl(session.device, LWK_GRANT) ? -errno : 0;
}

int64_t share_end(uint64_t start, uint64_t size)
{
	share_grant();
	if (!is_process_memory(start, size))
		return -EINVAL;
	return mmap((void *)start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    session.device, LWK_MMAP_WINDOW + (start - LWK_USER_START)) == MAP_FAILED
		       ? -errno
		       : 0;
}

int64_t share_protect(uint64_t start, uint64_t size, int prot)
{
	share_grant();
	if (!is_process_memory(start, size))
		return -EINVAL;
	return mprotect((void *)start, size, prot) ? -errno : 0;
}
