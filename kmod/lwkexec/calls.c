/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/calls.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/device/process.h"
#include "abi/shared/calls.h"
#include "abi/shared/linux_calls.h"
#include "lwkexec/base/descriptors.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/linux_call.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/core/core.h"
#include "lwkexec/process/direct.h"
#include "lwkexec/process/exec.h"
#include "lwkexec/process/fork.h"
#include "lwkexec/process/identity.h"
#include "lwkexec/process/limits.h"
#include "lwkexec/process/share.h"
#include "lwkexec/process/signals.h"
#include "lwkexec/process/splice.h"
#include "lwkexec/process/threads.h"
#include "lwkexec/process/timed.h"
#include "lwkexec/process/timers.h"
#include "lwkexec/program/mapped_files.h"
#include "lwkexec/view/maps.h"
#include "lwkexec/view/meminfo.h"
#include "lwkexec/view/self.h"
#include "lwkexec/view/sys.h"

/* Returns which argument is the path of a call with just one path, or -1 for another call. */
static int path_argument(uint64_t nr)
{
	switch (nr) {
	case SYS_open:
	case SYS_stat:
	case SYS_lstat:
	case SYS_access:
	case SYS_readlink:
	case SYS_chdir:
		return 0;
	case SYS_openat:
	case __NR_openat2:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_faccessat:
	case __NR_faccessat2:
	case SYS_readlinkat:
		return 1;
	default:
		return -1;
	}
}

/* True when the path may name a file that is another one on the LWK; 'path' is a copy of it. */
static bool read_path(uint64_t address, char path[PATH_MAX])
{
	static const char *const places[] = { "/proc/", "/sys/" };
	char start[8] = "";
	size_t n;

	copy_in(start, address, sizeof(start) - 1);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strncmp(start, places[i], strlen(places[i])) != 0)
			continue;
		n = copy_in(path, address, PATH_MAX);
		return memchr(path, '\0', n) != NULL;
	}
	return false;
}

static int64_t path_call(const struct lwk_packet *request, int argument)
{
	const uint64_t *args = (const uint64_t *)request->args;
	char path[PATH_MAX], kept[PATH_MAX];
	struct lwk_packet redirected;
	int64_t result;

	if (!read_path(args[argument], path))
		return linux_call(request);
	if (self_hides(path))
		return -ENOENT;
	if ((request->nr == SYS_open || request->nr == SYS_openat) &&
	    (self_open(path, args[argument + 1], &result) ||
	     meminfo_open(path, args[argument + 1], &result)))
		return result;
	if ((request->nr == SYS_readlink || request->nr == SYS_readlinkat) &&
	    self_readlink(path, args[argument + 1], args[argument + 2], &result))
		return result;
	if (!sys_path(path, kept))
		return linux_call(request);
	redirected = *request;
	redirected.args[argument] = (uintptr_t)kept;
	return linux_call(&redirected);
}

/* Carries out close_range(2), which leaves the proxy's own descriptors open. */
static int64_t close_range_around(const struct lwk_packet *request)
{
	/* As on Linux, only the lower halves of the arguments count. */
	uint32_t first = request->args[0], last = request->args[1], flags = request->args[2], kept;

	if (first > last)
		return linux_call(request);
	while ((kept = descriptor_next_kept(first)) != UINT32_MAX && kept <= last) {
		if (kept > first && syscall(__NR_close_range, first, kept - 1, flags))
			return -errno;
		first = kept + 1;
	}
	return first <= last && syscall(__NR_close_range, first, last, flags) ? -errno : 0;
}

static int64_t unmap(uint64_t start, uint64_t size)
{
	struct lwk_unmap range = { start, size };

	return ioctl(session.device, LWK_UNMAP, &range) ? -errno : 0;
}

/* Goes on with a call that a signal has ended that does not count. */
static int64_t call_again(const struct lwk_packet *request)
{
	struct lwk_packet call = *request;

	call.nr &= ~LWK_CALL_AGAIN;
	return timed_has(call.nr) ? timed_call(&call, true) : calls_execute(&call);
}

/* Carries out a request that the LWK makes by itself, for a call that Linux does not have. */
static int64_t lwk_call(const struct lwk_packet *request)
{
	const uint64_t *args = (const uint64_t *)request->args;

	switch (request->nr) {
	case LWK_CALL_THREAD:
		return threads_add();
	case LWK_CALL_FORK:
		return fork_process(args[0], args[1], args[2], args[3]);
	case LWK_CALL_FORK_WAIT:
		return fork_wait();
	case LWK_CALL_EXEC:
		return exec_program(args);
	case LWK_CALL_SIGNAL:
		return signals_send(args);
	case LWK_CALL_SIGNALS_HELD:
		return signals_hold(args[0]);
	case LWK_CALL_UNMAP:
		return unmap(args[0], args[1]);
	case LWK_CALL_SHARE:
		return share_begin(args);
	case LWK_CALL_SEGMENT:
		return share_segment_size(args[0]);
	case LWK_CALL_DETACH:
		return share_detach(args[0]);
	case LWK_CALL_FILE:
		return descriptor_is_kept(args[0]) ? 0 : mapped_file_number(args[0]);
	case LWK_CALL_LOAD:
		return mapped_file_load(args[0], args[1], args[2], args[3]);
	case LWK_CALL_AREA:
		return maps_add(args);
	case LWK_CALL_CORE:
		return core_wanted(args[0]);
	case LWK_CALL_CORE_THREAD:
		return core_add_words(args);
	case LWK_CALL_CORE_PAGES:
		return core_add_pages(args[0], args[1]);
	case LWK_CALL_GRANT:
		return share_grant();
	case LWK_CALL_UNSHARE:
		return share_end(args[0], args[1]);
	case LWK_CALL_RESHARE:
		return share_protect(args[0], args[1], args[2]);
	default:
		return request->nr & LWK_CALL_AGAIN ? call_again(request) : -ENOSYS;
	}
}

int64_t calls_execute(const struct lwk_packet *request)
{
	const uint64_t *args = (const uint64_t *)request->args;
	int path = path_argument(request->nr);

	if (path >= 0)
		return path_call(request, path);
	if (identity_has(request->nr))
		return identity_call(request);
	if (limits_has(request))
		return limits_call(request);
	if (direct_has(request->nr))
		return direct_call(request);
	if (timed_has(request->nr))
		return timed_call(request, false);
	switch (request->nr) {
	case SYS_close:
	case SYS_fcntl:
	case SYS_ioctl:
	case SYS_dup:
	case SYS_fchmod:
	case SYS_fchown:
		return descriptor_is_kept(args[0]) ? -EBADF : linux_call(request);
	case SYS_dup2:
	case SYS_dup3:
		return descriptor_is_kept(args[0]) || descriptor_is_kept(args[1])
			       ? -EBADF
			       : linux_call(request);
	case SYS_sysinfo:
		return meminfo_sysinfo(args[0]);
	case SYS_uname:
		return self_uname(args[0]);
	case SYS_timer_create:
		return timers_create(request);
	case SYS_timer_delete:
		return timers_delete(request);
	case SYS_signalfd:
	case SYS_signalfd4:
		return signals_describe(request);
	case SYS_vmsplice:
		return splice_memory(request);
	case __NR_close_range:
		return close_range_around(request);
	default:
		return request->nr >= LWK_CALL_BASE ? lwk_call(request) : linux_call(request);
	}
}
