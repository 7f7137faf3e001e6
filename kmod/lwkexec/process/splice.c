/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lwkexec/base/descriptors.h"
#include "lwkexec/instance/linux_call.h"

#define FLAGS_KNOWN (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

/*
 * Opens the pipe once more, without waits: what is copied into it in part must not wait for room
 * for the rest. A negative errno.
 */
static int open_again(int fd, bool *writes)
{
	int mode = descriptor_is_kept(fd) ? -1 : fcntl(fd, F_GETFL), again;
	struct stat file;
	char path[64];

	if (mode < 0 || mode & O_PATH || fstat(fd, &file) || !S_ISFIFO(file.st_mode))
		return -EBADF;
	*writes = (mode & O_ACCMODE) != O_RDONLY;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, (*writes ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

static int64_t wait_for(int fd, bool writes)
{
	struct pollfd pipe = { .fd = fd, .events = writes ? POLLOUT : POLLIN };
	const struct lwk_packet wait = { .nr = SYS_poll, .args = { (uintptr_t)&pipe, 1, -1 } };

	return linux_call(&wait);
}

int64_t splice_memory(const struct lwk_packet *request)
{
	bool waits = !(request->args[3] & SPLICE_F_NONBLOCK), writes;
	struct lwk_packet copy = { .args = { 0, request->args[1], request->args[2] } };
	int64_t result, waited = 0;
	int fd;

	if (request->args[3] & ~(uint64_t)FLAGS_KNOWN)
		return -EINVAL;
	fd = open_again(request->args[0], &writes);
	if (fd < 0)
		return fd;
	copy.nr = writes ? SYS_writev : SYS_readv;
	copy.args[0] = fd;
	while ((result = linux_call(&copy)) == -EAGAIN && waits && waited >= 0)
		waited = wait_for(fd, writes);
	close(fd);
	return result == -EAGAIN && waited < 0 ? waited : result;
}
