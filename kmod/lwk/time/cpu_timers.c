/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/time/cpu_timers.h"

#include <linux/errno.h>
#include <linux/signal.h>
#include <linux/time.h>

#include "abi/shared/calls.h"
#include "lwk/calls/local.h"
#include "lwk/machine/cpu.h"
#include "lwk/memory/user.h"
#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/time/clock.h"
#include "lwk/time/cpu_time.h"

#define NS_PER_SEC 1000000000L
/* Shorter timers run out late, so that a program can compute between two interrupts. */
#define LEAST_NS 50000

struct cpu_timer {
	bool exists;
	struct cpu_clock clock;
	u64 due;      /* by its clock in ns, NO_DEADLINE: never; 0: it does not run */
	u64 interval; /* ns; 0: it runs once */
	/* The signal that it sends, 'thread' to the thread of this number; signal 0: none. */
	struct lwk_signal signal;
};

#define TIMERS (PAGE_SIZE / sizeof(struct cpu_timer))
/* The timers of setitimer(2) exist always; timer_create(2) makes the others. */
enum { TIMER_VIRTUAL, TIMER_PROF, TIMERS_FIXED };

static void set_due(struct cpu_timers *timers, struct cpu_timer *timer, u64 due)
{
	WRITE_ONCE(timers->n_due, timers->n_due - !!timer->due + !!due);
	timer->due = due;
}

/* Stores how many ns the timer runs on; 0: it has run out. False: not for this thread. */
static bool time_left(const struct cpu_timer *timer, u64 *left)
{
	u64 now;

	if (!timer->due || (timer->clock.tid && timer->clock.tid != this_thread()->tid) ||
	    !cpu_clock_read(&timer->clock, &now))
		return false;
	*left = timer->due > now ? timer->due - now : 0;
	return true;
}

/* True when the timer has run out. Then *signal is what it sends, and a periodic timer runs on. */
static bool run_out(struct cpu_timers *timers, struct cpu_timer *timer, struct lwk_signal *signal)
{
	u64 left, now, missed = 0, due = 0;

	if (!time_left(timer, &left) || left || !cpu_clock_read(&timer->clock, &now))
		return false;
	if (timer->interval) {
		missed = (now - timer->due) / timer->interval;
		due = timer->due + missed * timer->interval;
		if (__builtin_add_overflow(due, timer->interval, &due))
			due = NO_DEADLINE;
	}
	set_due(timers, timer, due);
	*signal = timer->signal;
	if (signal->code == SI_TIMER)
		signal->field[0] |= MIN(missed, MOST_OVERRUNS) << 32;
	return true;
}

/* A signal that finds no room to wait in is lost. */
static void send(const struct lwk_signal *signal)
{
	if (!signal->signal)
		return;
	if (!signal->thread)
		signal_add_to_process(signal);
	else if (signal->thread == this_thread()->tid)
		pending_add(&this_thread()->pending, signal);
	else
		channel_send_signal(signal);
}

void cpu_timers_expire(void)
{
	struct cpu_timers *timers = &this_process()->cpu_timers;

	if (!READ_ONCE(timers->n_due))
		return;
	for (u32 i = 0; i < TIMERS; i++) {
		struct lwk_signal signal;
		bool out;

		spin_lock(&timers->lock);
		out = run_out(timers, &timers->all[i], &signal);
		spin_unlock(&timers->lock);
		if (out)
			send(&signal);
	}
}

u64 cpu_timers_deadline(void)
{
	struct cpu_timers *timers = &this_process()->cpu_timers;
	u64 first = NO_DEADLINE, left;

	if (!READ_ONCE(timers->n_due))
		return NO_DEADLINE;
	spin_lock(&timers->lock);
	for (u32 i = 0; i < TIMERS; i++)
		if (time_left(&timers->all[i], &left))
			first = MIN(first,
				    timers->all[i].clock.tid ? left : left / cpu_time_users());
	spin_unlock(&timers->lock);
	first = MAX(first, LEAST_NS);
	return __builtin_add_overflow(first, clock_monotonic(), &first) ? NO_DEADLINE : first;
}

void cpu_timers_end(void)
{
	struct cpu_timer *all = this_process()->cpu_timers.all;

	if (all)
		kernel_page_free(all);
}

/* Returns the timers of this process, or NULL if there is no memory for them. */
static struct cpu_timer *get_all(struct cpu_timers *timers)
{
	struct cpu_timer *all = timers->all ? timers->all : kernel_page_alloc();

	if (!all || timers->all)
		return all;
	all[TIMER_VIRTUAL] = (struct cpu_timer){
		true, { .part = 1 }, .signal = { .signal = SIGVTALRM, .code = SI_KERNEL }
	};
	all[TIMER_PROF] =
		(struct cpu_timer){ true, .signal = { .signal = SIGPROF, .code = SI_KERNEL } };
	timers->all = all;
	return all;
}

/* The times of a timer, as struct itimerval and struct itimerspec have them. */
struct setting {
	struct {
		s64 sec, part;
	} interval, left;
};

/* Tells of the timer, and sets it unless 'new' is NULL. 0, or -EINVAL. */
static s64 exchange(struct cpu_timers *timers, struct cpu_timer *timer, const struct setting *new,
		    struct setting *old, bool absolute, s64 unit)
{
	u64 now, due, left, interval;

	if (!timer->exists || !cpu_clock_read(&timer->clock, &now))
		return -EINVAL;
	/* Until a timer's signal is sent, perhaps a little late, the timer has some time left. */
	left = timer->due > now ? timer->due - now : 0;
	if (timer->due && left < (u64)unit)
		left = unit;
	old->left.sec = left / NS_PER_SEC;
	old->left.part = left % NS_PER_SEC / unit;
	old->interval.sec = timer->interval / NS_PER_SEC;
	old->interval.part = timer->interval % NS_PER_SEC / unit;
	if (!new)
		return 0;
	if (!clock_to_ns(new->interval.sec, new->interval.part, unit, &interval) ||
	    !clock_to_ns(new->left.sec, new->left.part, unit, &due))
		return -EINVAL;
	if (due && !absolute && __builtin_add_overflow(due, now, &due))
		due = NO_DEADLINE;
	timer->interval = interval;
	set_due(timers, timer, due);
	return 0;
}

/* Reads the new setting and writes the old one, unless their address is 0. */
static s64 change(u32 index, u64 from, u64 to, bool absolute, s64 unit)
{
	struct process *process = this_process();
	struct setting new, old;
	s64 error = -ENOMEM;

	if (from && copy_from_user(&new, from, sizeof(new)))
		return -EFAULT;
	spin_lock(&process->cpu_timers.lock);
	if (get_all(&process->cpu_timers))
		error = exchange(&process->cpu_timers, &process->cpu_timers.all[index],
				 from ? &new : NULL, &old, absolute, unit);
	spin_unlock(&process->cpu_timers.lock);
	if (from) {
		this_slot()->cpu->look = true;
		process_kick(process);
	}
	return !error && to ? copy_to_user(to, &old, sizeof(old)) : error;
}

static s64 delegate(const struct frame *frame)
{
	return channel_call(TIME, frame->error, frame->rdi, frame->rsi, frame->rdx, frame->r10);
}

static s64 interval_timer(const struct frame *frame, u64 from, u64 to)
{
	if (frame->rdi != ITIMER_PROF && frame->rdi != ITIMER_VIRTUAL)
		return delegate(frame);
	return change(frame->rdi == ITIMER_PROF ? TIMER_PROF : TIMER_VIRTUAL, from, to, false,
		      1000);
}

/* setitimer(which, new, old) */
s64 sys_setitimer(struct frame *frame)
{
	return interval_timer(frame, frame->rsi, frame->rdx);
}

s64 sys_getitimer(struct frame *frame)
{
	return interval_timer(frame, 0, frame->rsi);
}

/* Returns the index of a timer of this process, whether or not it is for one thread. */
static u32 index_of(u32 id)
{
	return (id & ~LWK_TIMER_OF_THREAD) - LWK_TIMER_BASE;
}

bool cpu_timer_is(u32 id)
{
	return index_of(id) >= TIMERS_FIXED && index_of(id) < TIMERS;
}

/* The first words of Linux's struct sigevent. */
struct event {
	u64 value;
	s32 signal, notify;
	u32 tid, reserved;
};

/* Makes a timer of 'clock'. Returns its number, or -EAGAIN. */
static s64 make(const struct cpu_clock *clock, const struct event *event, bool value_is_id)
{
	struct cpu_timers *timers = &this_process()->cpu_timers;
	bool for_thread = event->notify & SIGEV_THREAD_ID;
	struct cpu_timer *all;
	s64 id = -EAGAIN;

	spin_lock(&timers->lock);
	all = get_all(timers);
	for (u32 i = TIMERS_FIXED; all && i < TIMERS; i++) {
		if (all[i].exists)
			continue;
		id = (LWK_TIMER_BASE + i) | (for_thread ? LWK_TIMER_OF_THREAD : 0);
		all[i] = (struct cpu_timer){
			true,
			*clock,
			.signal = { .signal = event->notify == SIGEV_NONE ? 0 : event->signal,
				    .code = SI_TIMER,
				    .thread = for_thread ? event->tid : 0,
				    .field = { id, value_is_id ? (u64)id : event->value } },
		};
		break;
	}
	spin_unlock(&timers->lock);
	return id;
}

/* timer_create(clock, event, id) */
s64 sys_timer_create(struct frame *frame)
{
	struct event event = { .signal = SIGALRM, .notify = SIGEV_SIGNAL };
	struct cpu_clock clock;
	struct cpu_time unused;
	s64 id;

	if (!cpu_clock_is(frame->rdi))
		return delegate(frame);
	if (frame->rsi && copy_from_user(&event, frame->rsi, sizeof(event)))
		return -EFAULT;
	if (!cpu_clock_find(frame->rdi, &clock) ||
	    (event.notify != SIGEV_NONE &&
	     (event.notify & ~SIGEV_THREAD_ID || event.signal < 1 || event.signal > SIGNALS)) ||
	    (event.notify & SIGEV_THREAD_ID && !cpu_time_read(event.tid, &unused)))
		return -EINVAL;
	id = make(&clock, &event, !frame->rsi);
	return id < 0 ? id : copy_to_user(frame->rdx, &id, sizeof(u32));
}

/* timer_settime(id, flags, new, old) */
s64 sys_timer_settime(struct frame *frame)
{
	if (!cpu_timer_is(frame->rdi))
		return delegate(frame);
	return frame->rdx ? change(index_of(frame->rdi), frame->rdx, frame->r10,
				   frame->rsi & TIMER_ABSTIME, 1)
			  : -EINVAL;
}

s64 sys_timer_gettime(struct frame *frame)
{
	return cpu_timer_is(frame->rdi) ? change(index_of(frame->rdi), 0, frame->rsi, false, 1)
					: delegate(frame);
}

s64 sys_timer_delete(struct frame *frame)
{
	struct cpu_timers *timers = &this_process()->cpu_timers;
	struct cpu_timer *timer;
	s64 error = -EINVAL;

	if (!cpu_timer_is(frame->rdi))
		return delegate(frame);
	spin_lock(&timers->lock);
	timer = timers->all ? &timers->all[index_of(frame->rdi)] : NULL;
	if (timer && timer->exists) {
		set_due(timers, timer, 0);
		timer->exists = false;
		error = 0;
	}
	spin_unlock(&timers->lock);
	return error;
}
