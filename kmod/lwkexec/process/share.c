/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/share.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "abi/device/serve.h"
#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwkexec/base/descriptors.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/instance/window.h"

/*
 * Delegated calls can write anywhere in the proxy, also to the channel: its addresses are checked.
 */
static bool is_process_memory(uint64_t start, uint64_t size)
{
	return start >= LWK_USER_START && start < LWK_USER_END && size <= LWK_USER_END - start;
}

/* ---- segments of shmget(2); shmdt(2) names them by their address alone ---- */

struct attached {
	struct attached *next;
	uint64_t start, size;
};

static pthread_mutex_t attached_lock = PTHREAD_MUTEX_INITIALIZER;
static struct attached *attached;

void share_renew(void)
{
	/* Another thread of the parent may have held the lock when it forked. */
	pthread_mutex_init(&attached_lock, NULL);
}

int64_t share_segment_size(int id)
{
	struct shmid_ds segment;

	return shmctl(id, IPC_STAT, &segment) ? -errno : (int64_t)segment.shm_segsz;
}

static int64_t attach(int id, uint64_t start, uint64_t size, int prot)
{
	int64_t now = share_segment_size(id);
	struct attached *new;

	if (now < 0)
		return now;
	/* A segment of another size has got the number meanwhile. */
	if (((uint64_t)now + 4095) / 4096 * 4096 != size)
		return -EINVAL;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	if (shmat(id, (void *)start, SHM_REMAP | (prot & PROT_WRITE ? 0 : SHM_RDONLY)) ==
	    (void *)-1) {
		now = -errno;
		free(new);
		return now;
	}
	pthread_mutex_lock(&attached_lock);
	*new = (struct attached){ attached, start, size };
	attached = new;
	pthread_mutex_unlock(&attached_lock);
	return 0;
}

/* Forgets the segments that begin in the range. Returns the size of one of them, or 0. */
static uint64_t forget_attached(uint64_t start, uint64_t end)
{
	struct attached **link = &attached, *gone;
	uint64_t size = 0;

	pthread_mutex_lock(&attached_lock);
	while ((gone = *link)) {
		if (gone->start < start || gone->start >= end) {
			link = &gone->next;
			continue;
		}
		*link = gone->next;
		size = gone->size;
		free(gone);
	}
	pthread_mutex_unlock(&attached_lock);
	return size;
}

int64_t share_detach(uint64_t start)
{
	uint64_t size = forget_attached(start, start + 1);

	return size ? (int64_t)size : -EINVAL;
}

/* ---- mappings ---- */

/*
 * Linux pins a page for reading only where its mapping says PROT_READ. A program on x86 can read all that
 * it can write or execute.
 */
static int readable(int prot)
{
	return prot ? prot | PROT_READ : prot;
}

int64_t share_begin(const uint64_t args[6])
{
	int flags = MAP_SHARED | MAP_FIXED | (args[3] & (MAP_ANONYMOUS | MAP_NORESERVE));
	uint64_t start = args[0], size = args[1];
	struct statfs where;
	struct stat file;
	int fd = args[4], prot = readable(args[2]);

	if (!is_process_memory(start, size))
		return -EINVAL;
	if (args[3] & LWK_SHARE_SEGMENT)
		return attach(fd, start, size, args[2]);
	if (!(flags & MAP_ANONYMOUS)) {
		if (descriptor_is_kept(fd) || fstat(fd, &file) || fstatfs(fd, &where))
			return -EBADF;
		/* Behind files of sysfs are registers of devices. */
		if (!S_ISREG(file.st_mode) || where.f_type == SYSFS_MAGIC)
			return 1;
	}
	return mmap((void *)start, size, prot, flags, fd, args[5]) == MAP_FAILED ? -errno : 0;
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
	forget_attached(start, start + size);
	return window_restore(session.device, start, size);
}

int64_t share_protect(uint64_t start, uint64_t size, int prot)
{
	share_grant();
	if (!is_process_memory(start, size))
		return -EINVAL;
	return mprotect((void *)start, size, readable(prot)) ? -errno : 0;
}
