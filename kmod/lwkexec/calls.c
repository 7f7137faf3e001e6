/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delegated system calls: Linux does them for us, with the LWK process's own pointers.
 * What is special is only what is about the process itself, which Linux takes to be us.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

/* What read_path() copies through, one thread at a time. */
static pthread_mutex_t path_lock = PTHREAD_MUTEX_INITIALIZER;
static int path_file = -1;

void calls_init(void)
{
	path_file = channel_keep(memfd_create("lwkexec", MFD_CLOEXEC));
}

int64_t calls_raw(const struct lwk_packet *request)
{
	uint64_t args[6];

	memcpy(args, request->args, sizeof(args));
	return interruptible_syscall(request->nr, args, &own.channel->signals);
}

/* Where the argument is that names a file, of calls that name just one; -1: this is another call. */
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
	case SYS_openat2:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_readlinkat:
		return 1;
	default:
		return -1;
	}
}

int calls_renew(void)
{
	int file = memfd_create("lwkexec", MFD_CLOEXEC), error = 0;

	/* Another thread of our parent may have had it. */
	pthread_mutex_init(&path_lock, NULL);
	if (file < 0 || dup3(file, path_file, O_CLOEXEC) < 0)
		error = -errno;
	if (file >= 0)
		close(file);
	return error;
}

/* Through a file, because Linux then checks the pointer. */
size_t calls_read(void *to, uint64_t address, size_t size)
{
	ssize_t n;

	pthread_mutex_lock(&path_lock);
	n = pwrite(path_file, (void *)address, size, 0);
	if (n > 0)
		n = pread(path_file, to, n, 0);
	pthread_mutex_unlock(&path_lock);
	return n > 0 ? n : 0;
}

/* False when it cannot be read, is no path, or leads to what is Linux's in any case. */
static bool read_path(uint64_t address, char path[PATH_MAX])
{
	static const char *const not_linuxs[] = { "/proc/", "/sys/" };
	char start[8] = "";
	size_t n;

	calls_read(start, address, sizeof(start) - 1);
	for (size_t i = 0; i < sizeof(not_linuxs) / sizeof(not_linuxs[0]); i++) {
		if (strncmp(start, not_linuxs[i], strlen(not_linuxs[i])) != 0)
			continue;
		n = calls_read(path, address, PATH_MAX);
		return memchr(path, '\0', n) != NULL;
	}
	return false;
}

static int64_t path_call(const struct lwk_packet *request, int argument)
{
	const uint64_t *args = (const uint64_t *)request->args;
	char path[PATH_MAX], ours[PATH_MAX];
	struct lwk_packet redirected;
	int64_t result;

	if (!read_path(args[argument], path))
		return calls_raw(request);
	if (self_hides(path))
		return -ENOENT;
	if ((request->nr == SYS_open || request->nr == SYS_openat) &&
	    (self_open(path, args[argument + 1], &result) ||
	     view_open(path, args[argument + 1], &result)))
		return result;
	if ((request->nr == SYS_readlink || request->nr == SYS_readlinkat) &&
	    self_readlink(path, args[argument + 1], args[argument + 2], &result))
		return result;
	if (!view_path(path, ours))
		return calls_raw(request);
	redirected = *request;
	redirected.args[argument] = (uintptr_t)ours;
	return calls_raw(&redirected);
}

/* A program that closes all descriptors must not close ours. */
static int64_t close_range_around(const struct lwk_packet *request)
{
	/* Linux takes the lower halves. */
	uint32_t first = request->args[0], last = request->args[1], flags = request->args[2], ours;

	if (first > last)
		return calls_raw(request);
	while ((ours = channel_next_owned(first)) != UINT32_MAX && ours <= last) {
		if (ours > first && syscall(SYS_close_range, first, ours - 1, flags))
			return -errno;
		first = ours + 1;
	}
	return first <= last && syscall(SYS_close_range, first, last, flags) ? -errno : 0;
}

static int64_t unmap(uint64_t start, uint64_t size)
{
	struct lwk_unmap range = { start, size };

	return ioctl(session.device, LWK_UNMAP, &range) ? -errno : 0;
}

int64_t call_execute(const struct lwk_packet *request)
{
	const uint64_t *args = (const uint64_t *)request->args;
	int path = path_argument(request->nr);

	if (path >= 0)
		return path_call(request, path);
	switch (request->nr) {
	case LWK_CALL_THREAD:
		return threads_add();
	case LWK_CALL_FORK:
		return fork_process(args[0], args[1], args[2]);
	case LWK_CALL_FORK_WAIT:
		return fork_wait();
	case LWK_CALL_EXEC:
		return exec_program(args);
	case LWK_CALL_SIGNAL:
		return signals_send(args);
	case LWK_CALL_UNMAP:
		return unmap(args[0], args[1]);
	case LWK_CALL_SHARE:
		return share_begin(args);
	case LWK_CALL_SEGMENT:
		return share_segment_size(args[0]);
	case LWK_CALL_DETACH:
		return share_detach(args[0]);
	case LWK_CALL_FILE:
		return channel_owns(args[0]) ? 0 : maps_file(args[0]);
	case LWK_CALL_AREA:
		return maps_add(args);
	case LWK_CALL_GRANT:
		return share_grant();
	case LWK_CALL_UNSHARE:
		return share_end(args[0], args[1]);
	case LWK_CALL_RESHARE:
		return share_protect(args[0], args[1], args[2]);
	case SYS_close:
	case SYS_fcntl:
	case SYS_ioctl:
	case SYS_dup:
		return channel_owns(args[0]) ? -EBADF : calls_raw(request);
	case SYS_dup2:
	case SYS_dup3:
		return channel_owns(args[0]) || channel_owns(args[1]) ? -EBADF : calls_raw(request);
	case SYS_timer_create:
		return timers_create(request);
	case SYS_timer_delete:
		return timers_delete(request);
	case SYS_close_range:
		return close_range_around(request);
	default:
		return calls_raw(request);
	}
}
