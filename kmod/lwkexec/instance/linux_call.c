/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/linux_call.h"

#include <string.h>

#include "lwkexec/instance/session.h"

int64_t linux_call(const struct lwk_packet *request)
{
	uint64_t args[6];

	memcpy(args, request->args, sizeof(args));
	return interruptible_syscall(request->nr, args, &own.channel->signals);
}
