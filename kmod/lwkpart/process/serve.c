// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LWK_SERVE: waits for packets of an LWK process in its proxy's context, has those calls carried
 * out that need no proxy, and charges the proxy meanwhile.
 */
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/uaccess.h>

#include "process/calls.h"
#include "process/channel.h"
#include "process/serve.h"

/* How often a proxy that waits is charged with what its process uses. */
#define CHARGE_INTERVAL (2 * HZ)
/*
 * How long to look for a packet before sleeping: SPIN_MIN after a wait that was shorter than
 * SPIN_MAX, twice as long after the next, up to SPIN_MAX; and not at all after a long
 * one. As KVM does it for halted CPUs (Documentation/virt/kvm/halt-polling.rst), with
 * its figures.
 *
 * SPIN_SHARED, while somebody else wants the CPU: about what it costs to switch to them and back.
 * To look for longer than that could be worse than to sleep at once, by more than a factor of two;
 * to sleep at once would switch for each call of a program that makes one after the other
 * (Karlin et al., Competitive randomized algorithms for nonuniform problems, 1990).
 */
#define SPIN_MIN 10000U
#define SPIN_MAX 200000U
#define SPIN_SHARED 50000U
/* Looks between two PAUSEs: a hypervisor or emulator may take microseconds for one. */
#define LOOKS 32

static void charge(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;

	/* With the proxy, process_create() has made the charge ready. */
	if (time_before(jiffies, thread->next_charge) ||
	    task_tgid(current) != smp_load_acquire(&thread->process->proxy) ||
	    !mutex_trylock(&thread->charge_mutex))
		return;
	thread->next_charge = jiffies + CHARGE_INTERVAL;
	down_read(&instance->rwsem);
	if (has_slot(thread))
		charge_proxy(instance, thread->index, &thread->charge);
	up_read(&instance->rwsem);
	mutex_unlock(&thread->charge_mutex);
}

static void adapt_spin(struct lwk_thread *thread, u64 waited)
{
	if (waited > SPIN_MAX)
		thread->spin_ns = 0;
	else if (waited > thread->spin_ns)
		thread->spin_ns = clamp(thread->spin_ns * 2, SPIN_MIN, SPIN_MAX);
}

/* Sleeps until there is a packet; with -ERESTARTSYS in *left it was a signal that ended it. */
static enum mail sleep_for_mail(struct lwk_thread *thread, long *left)
{
	wait_queue_head_t *wait = &thread->process->instance->wait[thread->index];
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
	return waited >= thread->spin_ns || signal_pending(current) ||
	       (waited >= SPIN_SHARED && !single_task_running());
}

/* Looks for a packet for a while, then sleeps. */
static enum mail wait_for_mail(struct lwk_thread *thread, long *left)
{
	u64 start = ktime_get_ns(), waited = 0;
	enum mail mail;

	/* The clock is read when there is no packet, which would wait for it. */
	while ((mail = channel_look(thread, false, LOOKS)) == MAIL_NONE) {
		waited = ktime_get_ns() - start;
		if (looked_enough(thread, waited)) {
			mail = sleep_for_mail(thread, left);
			waited = ktime_get_ns() - start;
			break;
		}
		/* The packet may have come when it is our turn again. */
		if (cond_resched())
			start = ktime_get_ns();
		cpu_relax();
	}
	adapt_spin(thread, waited);
	return mail;
}

/* 0: there is a packet; -EINTR, -EIO. */
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

long serve(struct lwk_thread *thread, struct lwk_serve __user *arg)
{
	struct lwk_serve serve;
	bool calls_here;
	int error;

	if (copy_from_user(&serve, arg, sizeof(serve)))
		return -EFAULT;
	if (serve.flags & ~LWK_SERVE_CALLS || READ_ONCE(thread->index) < 0)
		return -EINVAL;
	calls_here = serve.flags & LWK_SERVE_CALLS && !thread->process->instance->proxy_calls &&
		     task_tgid(current) == thread->process->proxy;
	serve.has_reply = 0;
	do {
		/* A limit of CPU time counts in a proxy that always has a packet, too. */
		cond_resched();
		charge(thread);
		error = await_packet(thread);
	} while (!error && calls_here && call_here(thread, &serve));
	serve.served = thread->served;
	return copy_to_user(arg, &serve, sizeof(serve)) ? -EFAULT : error;
}
