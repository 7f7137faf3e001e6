/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/identity.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/linux_call.h"

/* As on Linux, only the lower halves of the arguments count, and -1 leaves an ID as it is. */
#define UNCHANGED ((uint32_t)-1)

bool identity_has(uint64_t nr)
{
	switch (nr) {
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
	case SYS_setfsuid:
	case SYS_setfsgid:
	case SYS_capset:
	case SYS_personality:
	case SYS_prctl:
		return true;
	default:
		return false;
	}
}

static bool sets_users(uint64_t nr)
{
	return nr == SYS_setuid || nr == SYS_setreuid || nr == SYS_setresuid;
}

/* True when the call names IDs that the proxy already has as its real, effective and saved ones. */
static bool keeps_ids(const struct lwk_packet *request)
{
	uint32_t has[3], wanted[3] = { request->args[0], request->args[1], request->args[2] };

	if (sets_users(request->nr) ? getresuid(&has[0], &has[1], &has[2])
				    : getresgid(&has[0], &has[1], &has[2]))
		return false;
	switch (request->nr) {
	case SYS_setuid:
	case SYS_setgid:
		/* Linux refuses -1 itself. */
		wanted[1] = wanted[2] = wanted[0];
		break;
	case SYS_setreuid:
	case SYS_setregid:
		/* The saved ID becomes the effective one. */
		wanted[2] = has[1];
		break;
	}
	for (int i = 0; i < 3; i++)
		if (wanted[i] != UNCHANGED && wanted[i] != has[i])
			return false;
	return true;
}

/*
 * True when Linux may make the call, because it changes no groups of the proxy. Linux refuses every
 * list of a user, so only root's is compared.
 */
static bool keeps_groups(const struct lwk_packet *request)
{
	uint32_t n = request->args[0];
	gid_t *groups = calloc(NGROUPS_MAX, 2 * sizeof(*groups)), *wanted = groups + NGROUPS_MAX;
	bool same = geteuid() != 0;

	if (groups && !same && n <= NGROUPS_MAX)
		same = getgroups(NGROUPS_MAX, groups) == (int)n &&
		       copy_in(wanted, request->args[1], n * sizeof(*wanted)) ==
			       n * sizeof(*wanted) &&
		       memcmp(groups, wanted, n * sizeof(*wanted)) == 0;
	free(groups);
	return same;
}

/*
 * True when Linux may make the call, because it changes no capability of the proxy. A process
 * without capabilities cannot get any.
 */
static bool keeps_capabilities(const struct lwk_packet *request)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3],
		wanted[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, has))
		return false;
	return !(has[0].permitted | has[1].permitted) ||
	       (copy_in(wanted, request->args[1], sizeof(wanted)) == sizeof(wanted) &&
		memcmp(has, wanted, sizeof(wanted)) == 0);
}

/*
 * Linux keeps what the program sets, and runs the calls of it that it has a meaning for. With the
 * two exceptions Linux would give the proxy other mappings than it needs.
 */
static int64_t personality_call(const struct lwk_packet *request)
{
	uint32_t wanted = request->args[0];

	return wanted != UINT32_MAX && wanted & (ADDR_COMPAT_LAYOUT | READ_IMPLIES_EXEC)
		       ? -EINVAL
		       : linux_call(request);
}

/*
 * True for an option about an attribute that the proxy has for its program. Other options change
 * how the proxy works.
 */
static bool is_attribute(int32_t option)
{
	switch (option) {
	case PR_SET_PDEATHSIG:
	case PR_GET_PDEATHSIG:
	case PR_GET_DUMPABLE:
	case PR_GET_KEEPCAPS:
	case PR_SET_NAME:
	case PR_GET_NAME:
	case PR_CAPBSET_READ:
	case PR_GET_SECUREBITS:
	case PR_SET_TIMERSLACK:
	case PR_GET_TIMERSLACK:
	case PR_SET_CHILD_SUBREAPER:
	case PR_GET_CHILD_SUBREAPER:
	case PR_SET_NO_NEW_PRIVS:
	case PR_GET_NO_NEW_PRIVS:
		return true;
	default:
		return false;
	}
}

static int64_t prctl_call(const struct lwk_packet *request)
{
	switch ((int32_t)request->args[0]) {
	case PR_SET_SECUREBITS:
	case PR_CAPBSET_DROP:
		return -EPERM;
	default:
		return is_attribute(request->args[0]) ? linux_call(request) : -EINVAL;
	}
}

int64_t identity_call(const struct lwk_packet *request)
{
	switch (request->nr) {
	case SYS_prctl:
		return prctl_call(request);
	case SYS_personality:
		return personality_call(request);
	case SYS_capset:
		return keeps_capabilities(request) ? linux_call(request) : -EPERM;
	case SYS_setfsuid:
	case SYS_setfsgid:
		/* The two calls return the previous ID and no error; UNCHANGED changes nothing. */
		return syscall(request->nr, UNCHANGED);
	case SYS_setgroups:
		return keeps_groups(request) ? linux_call(request) : -EPERM;
	default:
		return keeps_ids(request) ? linux_call(request) : -EPERM;
	}
}
