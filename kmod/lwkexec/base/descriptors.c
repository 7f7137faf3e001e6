/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_KEPT 32
/* Linux's table of descriptors is as large as the highest number in use. */
#define MOST_LIMIT 65536
/* Each descriptor plus 1; 0: the element is free. Threads take and free elements without a lock. */
static uint32_t kept[MAX_KEPT];

/*
 * Returns a copy with a number that the program cannot have, because it is beyond its limit; or if
 * nothing is beyond, with one of its highest. -1: there is none.
 */
static int duplicate_high(int fd)
{
	struct rlimit limit, more;
	int from, high = -1;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > MOST_LIMIT)
		return fcntl(fd, F_DUPFD_CLOEXEC, MOST_LIMIT);
	from = limit.rlim_cur;
	more = limit;
	more.rlim_cur += MAX_KEPT;
	if (more.rlim_cur <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, from);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return high >= 0 ? high : fcntl(fd, F_DUPFD_CLOEXEC, from > 8 ? from - 8 : 0);
}

int descriptor_keep(int fd)
{
	int high = duplicate_high(fd);

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
