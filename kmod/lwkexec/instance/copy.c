/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lwkexec/base/descriptors.h"

/* One thread at a time copies through this file. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;

void copy_init(void)
{
	file = descriptor_keep(memfd_create("lwkexec", MFD_CLOEXEC));
}

int copy_renew(void)
{
	int former = file;

	/* Another thread of the parent may have held the lock when it forked. */
	pthread_mutex_init(&lock, NULL);
	copy_init();
	if (file < 0)
		return -errno;
	descriptor_drop(former);
	return 0;
}

/*
 * Linux before 5.16 copies nothing from a range whose end does not exist: then the rest of the
 * page.
 */
static ssize_t take(uint64_t address, size_t size)
{
	size_t in_page = 4096 - address % 4096;
	ssize_t n = pwrite(file, (void *)address, size, 0);

	if (n < 0 && errno == EFAULT && size > in_page)
		n = pwrite(file, (void *)address, in_page, 0);
	return n;
}

size_t copy_in(void *to, uint64_t address, size_t size)
{
	ssize_t n;

	pthread_mutex_lock(&lock);
	n = take(address, size);
	if (n > 0)
		n = pread(file, to, n, 0);
	pthread_mutex_unlock(&lock);
	return n > 0 ? n : 0;
}

int copy_out(uint64_t address, const void *from, size_t size)
{
	bool done;

	pthread_mutex_lock(&lock);
	done = pwrite(file, from, size, 0) == (ssize_t)size &&
	       pread(file, (void *)address, size, 0) == (ssize_t)size;
	pthread_mutex_unlock(&lock);
	return done ? 0 : -EFAULT;
}
