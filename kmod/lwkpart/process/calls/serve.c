// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LWK_SERVE: waits for packets of an LWK process in its proxy's context, leaves them to a server,
 * which it may be itself (served.c), or carries out calls that need no proxy (calls.c), and charges
 * the proxy meanwhile.
 */
#include "process/calls/serve.h"

#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "process/calls/calls.h"
#include "process/calls/served.h"
#include "process/thread/channel.h"
#include "server/spin.h"

/* The time after which a proxy that waits is charged again. */
#define CHARGE_INTERVAL (2 * HZ)
/* Looks between two PAUSEs, each of which may take a hypervisor or emulator microseconds. */
#define LOOKS 32

static void charge(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;

	/* Once process->proxy is set, the charge has been begun. */
	if (time_before(jiffies, READ_ONCE(thread->next_charge)) ||
	    task_tgid(current) != smp_load_acquire(&thread->process->proxy))
		return;
	/* A wait for rwsem is one that no signal ends; the next round charges what this one does not. */
	if (!down_read_trylock(&instance->rwsem))
		return;
	WRITE_ONCE(thread->next_charge, jiffies + CHARGE_INTERVAL);
	if (mutex_trylock(&thread->charge_mutex)) {
		if (has_slot(thread))
			charge_proxy(instance, thread->slot, &thread->charge);
		mutex_unlock(&thread->charge_mutex);
	}
	up_read(&instance->rwsem);
}

/* Sleeps until there is a packet, or a signal: then *left is -ERESTARTSYS. */
static enum mail sleep_for_mail(struct lwk_thread *thread, long *left)
{
	wait_queue_head_t *wait = &thread->process->instance->wait[thread->slot];
	enum mail mail = MAIL_NONE;

	while (mail == MAIL_NONE && *left >= 0) {
		*left = wait_event_interruptible_timeout(
			*wait, (mail = channel_look(thread, true, 1)) != MAIL_NONE,
			CHARGE_INTERVAL);
		charge(thread);
	}
	return channel_look(thread, false, 1);
}

static bool looked_enough(const struct lwk_thread *thread, u64 waited)
{
	return signal_pending(current) || spin_is_over(thread->spin_ns, waited);
}

/* Looks for a packet for a while, then sleeps. */
static enum mail wait_for_mail(struct lwk_thread *thread, long *left)
{
	u64 start = ktime_get_ns(), waited = 0;
	enum mail mail;

	/* Reading the clock takes time, so it is read only while there is no packet. */
	while ((mail = channel_look(thread, false, LOOKS)) == MAIL_NONE) {
		waited = ktime_get_ns() - start;
		if (looked_enough(thread, waited)) {
			mail = sleep_for_mail(thread, left);
			waited = ktime_get_ns() - start;
			break;
		}
		/* Another task had the CPU meanwhile: that time does not count. */
		if (cond_resched())
			start = ktime_get_ns();
		cpu_relax();
	}
	thread->spin_ns = spin_after(thread->process->instance, thread->spin_ns, waited);
	return mail;
}

/* Waits until there is a packet: 0, -EINTR, -EIO. */
static int await_packet(struct lwk_thread *thread)
{
	enum mail mail = channel_look(thread, false, 1);
	long left = 1;

	if (mail == MAIL_NONE)
		mail = wait_for_mail(thread, &left);
	if (mail == MAIL_WAITS)
		return 0;
	return left < 0 ? -EINTR : -EIO;
}

/* Has a server make calls until there is a packet for the proxy: 0, -EINTR, -EIO. */
static int await_by_server(struct lwk_thread *thread)
{
	struct served served;
	long left;

	if (!served_begin(&served, thread))
		return await_packet(thread);
	while ((left = served_wait(&served, CHARGE_INTERVAL)) == 0)
		charge(thread);
	served_end(&served);
	if (left < 0 && channel_look(thread, false, 1) == MAIL_NONE)
		return -EINTR;
	return await_packet(thread);
}

long serve(struct lwk_thread *thread, struct lwk_serve __user *arg)
{
	struct lwk_serve serve;
	bool calls_here, by_server;
	int error;

	if (copy_from_user(&serve, arg, sizeof(serve)))
		return -EFAULT;
	if (serve.flags & ~(LWK_SERVE_CALLS | LWK_SERVE_BY_SERVER) || READ_ONCE(thread->slot) < 0)
		return -EINVAL;
	calls_here = serve.flags & LWK_SERVE_CALLS && !thread->process->instance->proxy_calls &&
		     task_tgid(current) == thread->process->proxy;
	by_server = calls_here && serve.flags & LWK_SERVE_BY_SERVER;
	serve.has_reply = 0;
	do {
		/* A proxy that always has a packet must be charged and limited, too. */
		cond_resched();
		charge(thread);
		error = by_server ? await_by_server(thread) : await_packet(thread);
	} while (!error && calls_here && call_here(thread, &serve));
	serve.served = thread->served;
	serve.by_server = thread->by_server;
	return copy_to_user(arg, &serve, sizeof(serve)) ? -EFAULT : error;
}
