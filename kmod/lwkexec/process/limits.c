/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/limits.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/session.h"

/* Threads of a program that set limits at once race on Linux, too: no lock is needed. */
static struct rlimit address_space = { RLIM_INFINITY, RLIM_INFINITY };

void limits_take(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	address_space = limit;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_AS, &limit);
}

void limits_resume(const struct rlimit *limit)
{
	address_space = *limit;
}

struct rlimit limits_now(void)
{
	return address_space;
}

void limits_apply(void)
{
	__atomic_store_n(&session.channel->address_limit,
			 address_space.rlim_cur == RLIM_INFINITY ? 0 : address_space.rlim_cur,
			 __ATOMIC_RELEASE);
}

bool limits_has(const struct lwk_packet *request)
{
	const __u64 *args = request->args;

	switch (request->nr) {
	case SYS_getrlimit:
	case SYS_setrlimit:
		return (uint32_t)args[0] == RLIMIT_AS;
	case SYS_prlimit64:
		return (uint32_t)args[1] == RLIMIT_AS &&
		       (!(pid_t)args[0] || (pid_t)args[0] == getpid());
	default:
		return false;
	}
}

static int64_t set(uint64_t from)
{
	struct rlimit limit;

	if (copy_in(&limit, from, sizeof(limit)) != sizeof(limit))
		return -EFAULT;
	if (limit.rlim_cur > limit.rlim_max)
		return -EINVAL;
	if (limit.rlim_max > address_space.rlim_max && geteuid() != 0)
		return -EPERM;
	address_space = limit;
	limits_apply();
	return 0;
}

int64_t limits_call(const struct lwk_packet *request)
{
	const __u64 *args = request->args;
	struct rlimit old = address_space;
	uint64_t from = request->nr == SYS_prlimit64   ? args[2]
			: request->nr == SYS_setrlimit ? args[1]
						       : 0;
	uint64_t to = request->nr == SYS_prlimit64   ? args[3]
		      : request->nr == SYS_getrlimit ? args[1]
						     : 0;
	int64_t error = from ? set(from) : 0;

	if (request->nr == SYS_setrlimit && !from)
		return -EFAULT;
	if (!error && (to || request->nr == SYS_getrlimit))
		error = copy_out(to, &old, sizeof(old));
	return error;
}
