/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux itself writes into the arguments of select(2), pselect6(2) and ppoll(2) how much time is
 * left, and a wait until a time of the clock has no beginning, so these are not here.
 */
#include "lwkexec/process/timed.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "abi/shared/linux_calls.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/linux_call.h"

#define NS_PER_S 1000000000L
#define NS_PER_MS 1000000L
/* A wait of more seconds, a hundred years, counts as one without an end. */
#define MOST_S 3155760000L

/* The arguments of a call that are times. */
struct timeout {
	int argument;
	int rest; /* -1, or where to write what is left */
	bool in_ms;
};

/* The thread's last such call: its end, and what the program had where its rest is written. */
static __thread int64_t end;
static __thread struct timespec kept;
#define NO_END (-1)

static int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* False: the call waits until a time of the clock, without an end, or not at all. */
static bool find_timeout(const struct lwk_packet *request, struct timeout *timeout)
{
	const uint64_t *args = (const uint64_t *)request->args;

	*timeout = (struct timeout){ .argument = 3, .rest = -1 };
	switch (request->nr) {
	case SYS_nanosleep:
		timeout->argument = 0;
		timeout->rest = 1;
		return true;
	case SYS_clock_nanosleep:
		timeout->argument = 2;
		timeout->rest = 3;
		return !(args[1] & TIMER_ABSTIME);
	case SYS_poll:
		timeout->argument = 2;
		timeout->in_ms = true;
		return (int)args[2] > 0;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		timeout->in_ms = true;
		return (int)args[3] > 0;
	case __NR_epoll_pwait2:
	case SYS_semtimedop:
		return args[3] != 0;
	case SYS_futex:
		return (args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT && args[3];
	default:
		return false;
	}
}

bool timed_has(uint64_t nr)
{
	switch (nr) {
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_poll:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case __NR_epoll_pwait2:
	case SYS_semtimedop:
	case SYS_futex:
		return true;
	default:
		return false;
	}
}

/* Nanoseconds, or NO_END also for a time that Linux refuses. */
static int64_t read_timeout(uint64_t argument, bool in_ms)
{
	struct timespec time;

	if (in_ms)
		return (int)argument * NS_PER_MS;
	if (copy_in(&time, argument, sizeof(time)) != sizeof(time) || time.tv_sec < 0 ||
	    time.tv_sec > MOST_S || time.tv_nsec < 0 || time.tv_nsec >= NS_PER_S)
		return NO_END;
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static int64_t time_left(void)
{
	int64_t left = end - clock_now();

	return left > 0 ? left : 0;
}

/* Makes the call with the rest of its time. */
static int64_t go_on(struct lwk_packet *request, const struct timeout *timeout)
{
	int64_t left = time_left();
	struct timespec time = { left / NS_PER_S, left % NS_PER_S };

	request->args[timeout->argument] =
		timeout->in_ms ? (uint64_t)((left + NS_PER_MS - 1) / NS_PER_MS) : (uintptr_t)&time;
	return linux_call(request);
}

/* A sleep whose time has passed when the signal comes has ended by itself. */
static int64_t tell_rest(uint64_t address)
{
	int64_t left = time_left();
	struct timespec time = { left / NS_PER_S, left % NS_PER_S };

	if (!left)
		return 0;
	return address && copy_out(address, &time, sizeof(time)) ? -EFAULT : -EINTR;
}

/* Makes the call with all of its time. */
static int64_t begin(const struct lwk_packet *request, const struct timeout *timeout)
{
	int64_t start = clock_now(), result = linux_call(request), time;

	if (result == -EINTR) {
		time = read_timeout(request->args[timeout->argument], timeout->in_ms);
		end = time == NO_END ? NO_END : start + time;
	}
	return result;
}

/* Does what is left to do for a call that ends a sleep, or that a signal has interrupted. */
static int64_t finish_sleep(int64_t result, uint64_t rest, bool again)
{
	if (!again)
		copy_in(&kept, rest, sizeof(kept));
	if (result == -EINTR)
		result = tell_rest(rest);
	/* An earlier signal has had the rest written, of which a sleep to the end says nothing. */
	if (result != -EINTR && again && rest)
		copy_out(rest, &kept, sizeof(kept));
	return result;
}

int64_t timed_call(const struct lwk_packet *request, bool again)
{
	struct lwk_packet call = *request;
	struct timeout timeout;
	uint64_t rest = 0;
	int64_t result;

	if (!find_timeout(request, &timeout))
		return linux_call(request);
	if (timeout.rest >= 0) {
		/* The program may want the rest where the time is, which is read after the call. */
		rest = request->args[timeout.rest];
		call.args[timeout.rest] = 0;
	}
	again = again && end != NO_END;
	result = again ? go_on(&call, &timeout) : begin(&call, &timeout);
	if (timeout.rest >= 0 && (again || result == -EINTR) && end != NO_END)
		result = finish_sleep(result, rest, again);
	return result;
}
