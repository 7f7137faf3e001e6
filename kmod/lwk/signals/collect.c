/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/signals/collect.h"

#include "abi/shared/calls.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/watch/console.h"

/* Returns the tid of another thread that takes the signal, if this one blocks it; or 0. */
static u32 other_taker(const struct process *process, int signal)
{
	if (!(this_thread()->blocked & SIGNAL_BIT(signal)) || READ_ONCE(process->n_slots) == 1)
		return 0;
	for (u32 i = 0; i < boot->n_slots; i++) {
		const struct slot *slot = slot_at(i);

		if (slot != this_slot() && LOAD_ACQUIRE(slot->process) == process &&
		    !(READ_ONCE(slot->thread.blocked) & SIGNAL_BIT(signal)))
			return slot->thread.tid;
	}
	return 0;
}

/* Sends the signal by Linux, so that it ends a call of the thread there. False: nobody has it. */
static bool give_to(u32 tid, struct lwk_signal *signal)
{
	signal->thread = tid;
	return tid && channel_send_signal(signal) == 0;
}

s64 signal_add_to_process(const struct lwk_signal *signal)
{
	struct process *process = this_process();
	struct lwk_signal sent = *signal;
	s64 error;
	u32 taker;

	if (give_to(other_taker(process, signal->signal), &sent))
		return 0;
	error = pending_add(&process->pending, signal);
	/* A thread that takes it since then looked at it before it was there (signal_hold()). */
	memory_barrier();
	taker = error ? 0 : other_taker(process, signal->signal);
	if (taker && pending_take(&process->pending, signal->signal, &sent) &&
	    !give_to(taker, &sent))
		error = pending_add(&process->pending, &sent);
	return error;
}

/* Linux cannot take back a signal that the proxy has. One line is enough for many signals. */
static void tell_lost(int signal)
{
	struct process *process = this_process();

	if (!__atomic_exchange_n(&process->lost_signals, 1, __ATOMIC_RELAXED))
		print("pid %u: a signal %d is lost, and others may be: as many wait as the LWK can keep",
		      process->pid, signal);
}

static void collect(u32 end, bool late)
{
	const struct lwk_channel *channel = this_slot()->channel;
	struct lwk_signal signal;
	s64 error;

	while (this_slot()->signals_taken != end && channel_take_signal(&signal)) {
		if (signal.signal < 1 || signal.signal > SIGNALS || (signal.thread && late))
			continue;
		error = signal.thread ? pending_add(&this_thread()->pending, &signal)
				      : signal_add_to_process(&signal);
		if (error)
			tell_lost(signal.signal);
	}
	if (READ_ONCE(channel->signals.held))
		channel_notice(LWK_CALL_SIGNALS_TAKEN);
}

void signal_collect(void)
{
	struct slot *slot = this_slot();

	if (signal_comes(slot))
		collect(LOAD_ACQUIRE(slot->channel->signals.head), false);
}

void signal_collect_late(u32 end)
{
	struct slot *slot = this_slot();

	/* Signals behind 'end' may have been taken before 'end' was looked at. */
	if (signal_comes(slot) && end - slot->signals_taken <= LWK_SIGNAL_SLOTS)
		collect(end, true);
}

u64 signal_all_pending(void)
{
	return READ_ONCE(this_thread()->pending.set) | READ_ONCE(this_process()->pending.set);
}

bool signal_take(int signal, struct lwk_signal *taken)
{
	return pending_take(&this_thread()->pending, signal, taken) ||
	       pending_take(&this_process()->pending, signal, taken);
}

void signal_hand_down(u64 set)
{
	struct lwk_signal signal;

	for (int s = 1; s <= SIGNALS; s++) {
		while (set & SIGNAL_BIT(s) && signal_take(s, &signal)) {
			signal.thread = this_thread()->tid;
			channel_send_signal(&signal);
		}
	}
}

/* Such signals stay with Linux, where signalfd(2) finds them. */
void signal_hold(void)
{
	struct slot *slot = this_slot();
	u64 described, held;

	/* A thread that adds a signal sees 'blocked', or this thread sees the signal. */
	memory_barrier();
	/* The proxy's word counts, because these are the program's own signals. */
	described = READ_ONCE(slot->process->first->channel->described);
	held = slot->thread.blocked & described & ~SIGNALS_UNBLOCKABLE;
	if (held == slot->held)
		return;
	signal_hand_down(held & ~slot->held);
	slot->held = held;
	channel_call(PROCESS, LWK_CALL_SIGNALS_HELD, held);
}

bool signal_effective(void)
{
	const struct process *process = this_process();
	u64 waiting = signal_all_pending() & ~this_thread()->blocked;

	for (int s = 1; waiting && s <= SIGNALS; s++)
		if (waiting & SIGNAL_BIT(s) && !signal_ignored(process, s))
			return true;
	return false;
}
