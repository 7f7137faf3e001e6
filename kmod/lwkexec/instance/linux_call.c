/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/linux_call.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "lwkexec/instance/may_wait.h"
#include "lwkexec/instance/session.h"

static int64_t uninterrupted(const struct lwk_packet *request)
{
	const uint64_t *args = (const uint64_t *)request->args;
	long result = syscall(request->nr, args[0], args[1], args[2], args[3], args[4], args[5]);

	return result == -1 ? -errno : result;
}

/*
 * Begins to connect, and waits as briefly as Linux can: after EINTR, a program waits until the
 * socket can be written to, and takes one that has not begun to connect for connected.
 */
static int64_t begin_connect(const struct lwk_packet *request)
{
	const struct timeval briefly = { 0, 1 };
	int socket = request->args[0];
	struct timeval kept;
	socklen_t size = sizeof(kept);
	int64_t result;

	if (getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kept, &size) ||
	    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &briefly, sizeof(briefly)))
		return -errno;
	result = uninterrupted(request);
	setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kept, size);
	return result == -EINPROGRESS || result == -EAGAIN ? -EINTR : result;
}

int64_t linux_call(const struct lwk_packet *request)
{
	uint64_t args[6];
	int64_t result;

	memcpy(args, request->args, sizeof(args));
	result = interruptible_syscall(request->nr, args, &own.channel->signals);
	if (result != INTERRUPTIBLE_GIVEN_UP)
		return result;
	if (!may_wait(request))
		return uninterrupted(request);
	return request->nr == SYS_connect ? begin_connect(request) : -EINTR;
}
