/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that wait, of a process and of each of its threads, with the information that they carry.
 * The signals are kept in kernel pages, at most QUEUED_PAGES for a process. When these are full,
 * the LWK loses what Linux loses without memory: the information, but not the signal itself.
 * Signals from SIGRTMIN on, which wait as often as they were sent, are refused then, unless kill(2)
 * has sent them.
 *
 * The sets are read without the lock. It is held to change a set and the list that belongs to it.
 */
#include "lwk/signals/pending.h"

#include <linux/errno.h>
#include <linux/signal.h>

#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"

struct queued {
	struct lwk_signal signal;
	struct queued *next;
};

#define PER_PAGE (PAGE_SIZE / sizeof(struct queued))

static void more_free(struct process *process)
{
	struct queued *queued;
	u32 i = 0;

	while (i < QUEUED_PAGES && process->queued_pages[i])
		i++;
	queued = i < QUEUED_PAGES ? kernel_page_alloc() : NULL;
	if (!queued)
		return;
	process->queued_pages[i] = queued;
	for (u32 n = 0; n < PER_PAGE; n++) {
		queued[n].next = process->free_queued;
		process->free_queued = &queued[n];
	}
}

static struct queued *take_free(struct process *process)
{
	struct queued *queued;

	if (!process->free_queued)
		more_free(process);
	queued = process->free_queued;
	if (queued)
		process->free_queued = queued->next;
	return queued;
}

/* Returns the link to the first signal of that number; *link is NULL if there is none. */
static struct queued **find(struct queued **link, int signal)
{
	while (*link && (*link)->signal.signal != signal)
		link = &(*link)->next;
	return link;
}

/* Takes *link out of its list. */
static void give_back(struct process *process, struct queued **link)
{
	struct queued *queued = *link;

	*link = queued->next;
	queued->next = process->free_queued;
	process->free_queued = queued;
}

/*
 * The information of a timer's signal is the timer's number, and in the upper half how often it has
 * run out since the signal was sent.
 */
static u32 timer_of(const struct lwk_signal *signal)
{
	return signal->field[0];
}

static u32 overruns_of(const struct lwk_signal *signal)
{
	return signal->field[0] >> 32;
}

/* At most one signal of a timer waits, and counts further overruns. False: none waits. */
static bool count_overrun(struct pending *pending, const struct lwk_signal *signal)
{
	struct queued **link = &pending->first;

	while (*(link = find(link, signal->signal))) {
		struct lwk_signal *waits = &(*link)->signal;

		if (waits->code == SI_TIMER && timer_of(waits) == timer_of(signal)) {
			u64 overruns =
				MIN(overruns_of(waits) + overruns_of(signal) + 1UL, MOST_OVERRUNS);

			waits->field[0] = timer_of(waits) | overruns << 32;
			return true;
		}
		link = &(*link)->next;
	}
	return false;
}

static s64 add(struct process *process, struct pending *pending, const struct lwk_signal *signal)
{
	bool waits = pending->set & SIGNAL_BIT(signal->signal);
	struct queued *queued, **link = &pending->first;

	if (waits && signal->code == SI_TIMER && count_overrun(pending, signal))
		return 0;
	/* As on Linux, a timer's signal waits beside others. */
	if (waits && signal->signal < SIGRTMIN && signal->code != SI_TIMER)
		return 0;
	queued = take_free(process);
	if (!queued && signal->signal >= SIGRTMIN && signal->code != SI_USER)
		return -EAGAIN;
	if (queued) {
		*queued = (struct queued){ .signal = *signal };
		queued->signal.thread = 0;
		while (*link)
			link = &(*link)->next;
		*link = queued;
	}
	__atomic_or_fetch(&pending->set, SIGNAL_BIT(signal->signal), __ATOMIC_ACQ_REL);
	return 0;
}

s64 pending_add(struct pending *pending, const struct lwk_signal *signal)
{
	struct process *process = this_process();
	s64 error;

	spin_lock(&process->pending_lock);
	error = add(process, pending, signal);
	spin_unlock(&process->pending_lock);
	return error;
}

static void take(struct process *process, struct pending *pending, int signal,
		 struct lwk_signal *taken)
{
	struct queued **link = find(&pending->first, signal);

	*taken = (struct lwk_signal){ .signal = signal };
	if (*link) {
		*taken = (*link)->signal;
		give_back(process, link);
	}
	if (!*find(link, signal))
		__atomic_and_fetch(&pending->set, ~SIGNAL_BIT(signal), __ATOMIC_ACQ_REL);
	if (taken->code == SI_TIMER)
		WRITE_ONCE(process->taken_timer,
			   (u32)(timer_of(taken) + 1) | (u64)overruns_of(taken) << 32);
}

bool pending_take(struct pending *pending, int signal, struct lwk_signal *taken)
{
	struct process *process = this_process();
	bool waits;

	if (!(READ_ONCE(pending->set) & SIGNAL_BIT(signal)))
		return false;
	spin_lock(&process->pending_lock);
	waits = pending->set & SIGNAL_BIT(signal);
	if (waits)
		take(process, pending, signal, taken);
	spin_unlock(&process->pending_lock);
	return waits;
}

void pending_drop(struct pending *pending, u64 set)
{
	struct process *process = this_process();
	struct queued **link = &pending->first;

	if (!(READ_ONCE(pending->set) & set))
		return;
	spin_lock(&process->pending_lock);
	while (*link) {
		if (set & SIGNAL_BIT((*link)->signal.signal))
			give_back(process, link);
		else
			link = &(*link)->next;
	}
	__atomic_and_fetch(&pending->set, ~set, __ATOMIC_ACQ_REL);
	spin_unlock(&process->pending_lock);
}

void pending_end(struct process *process)
{
	for (u32 i = 0; i < QUEUED_PAGES && process->queued_pages[i]; i++)
		kernel_page_free(process->queued_pages[i]);
}
