/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_KEPT 32
/* Each descriptor plus 1; 0: the element is free. Threads take and free elements without a lock. */
static uint32_t kept[MAX_KEPT];

int descriptor_keep(int fd)
{
	struct rlimit limit;
	int from = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024
			   ? (int)limit.rlim_cur - 8
			   : 1000;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, from);

	if (high >= 0) {
		close(fd);
		fd = high;
	}
	for (unsigned i = 0; fd >= 0 && i < MAX_KEPT; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&kept[i], &none, fd + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	errno = EMFILE;
	return -1;
}

void descriptor_drop(int fd)
{
	for (unsigned i = 0; i < MAX_KEPT; i++)
		if (__atomic_load_n(&kept[i], __ATOMIC_RELAXED) == (uint32_t)fd + 1)
			__atomic_store_n(&kept[i], 0, __ATOMIC_RELEASE);
	close(fd);
}

bool descriptor_is_kept(int fd)
{
	return fd >= 0 && descriptor_next_kept(fd) == (uint32_t)fd;
}

uint32_t descriptor_next_kept(uint32_t fd)
{
	uint32_t next = UINT32_MAX;

	for (unsigned i = 0; i < MAX_KEPT; i++) {
		uint32_t one = __atomic_load_n(&kept[i], __ATOMIC_RELAXED);

		if (one && one - 1 >= fd && one - 1 < next)
			next = one - 1;
	}
	return next;
}
