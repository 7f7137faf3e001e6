/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/timers.h"

#include <errno.h>
#include <signal.h>

#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/linux_call.h"

/* A timer_create(2) of one more fails with EAGAIN, as if Linux had no memory for it. */
#define MAX_TIMERS 256

/*
 * Each timer's id plus 1; 0: the element is free. Threads take and free elements without a lock. A
 * signal handler may look for a timer that has just been deleted, so a deleted one stays, marked,
 * until another timer needs the element.
 */
static uint32_t timers[MAX_TIMERS];
#define DELETED 0x80000000U
#define TAKEN UINT32_MAX
static uint32_t next;

static bool is_free(uint32_t timer)
{
	return !timer || (timer & DELETED && timer != TAKEN);
}

/* Takes about the element that has been free for longest; NULL: none is free. */
static uint32_t *take(void)
{
	for (unsigned i = 0; i < MAX_TIMERS; i++) {
		uint32_t at = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % MAX_TIMERS;
		uint32_t timer = __atomic_load_n(&timers[at], __ATOMIC_RELAXED);

		if (is_free(timer) &&
		    __atomic_compare_exchange_n(&timers[at], &timer, TAKEN, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return &timers[at];
	}
	return NULL;
}

static bool wants_thread(uint64_t address)
{
	struct sigevent event;

	return address && copy_in(&event, address, sizeof(event)) == sizeof(event) &&
	       event.sigev_notify == SIGEV_THREAD_ID;
}

int64_t timers_create(const struct lwk_packet *request)
{
	uint32_t *entry, id, value = 0;
	int64_t result;

	if (!wants_thread(request->args[1]))
		return linux_call(request);
	entry = take();
	if (!entry)
		return -EAGAIN;
	result = linux_call(request);
	if (!result && copy_in(&id, request->args[2], sizeof(id)) == sizeof(id))
		value = id + 1;
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
	return result;
}

int64_t timers_delete(const struct lwk_packet *request)
{
	int64_t result = linux_call(request);

	for (unsigned i = 0; !result && i < MAX_TIMERS; i++)
		if (__atomic_load_n(&timers[i], __ATOMIC_RELAXED) == (uint32_t)request->args[0] + 1)
			__atomic_or_fetch(&timers[i], DELETED, __ATOMIC_RELAXED);
	return result;
}

bool timers_for_thread(int id)
{
	for (unsigned i = 0; i < MAX_TIMERS; i++)
		if ((__atomic_load_n(&timers[i], __ATOMIC_ACQUIRE) & ~DELETED) == (uint32_t)id + 1)
			return true;
	return false;
}

void timers_renew(void)
{
	for (unsigned i = 0; i < MAX_TIMERS; i++)
		timers[i] = 0;
}
