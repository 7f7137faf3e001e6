// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serves an LWK process in its proxy's context: waits for packets, and carries out the
 * most used calls on files right here, without a way out to user space and back.
 *
 * A call is Linux's own function for it, called in the task that stands for the LWK process: its
 * credentials, descriptors, limits and accounting are the proxy's because they are, and
 * results and signals are those of the proxy's own call. What Linux does only on the way
 * into a system call (seccomp, ptrace, audit) is not done here, so a proxy of which any of it is
 * asked gets its packets itself; and what Linux does on the way out (signals, the last
 * close of a file) is awaited before the LWK reads the reply.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/kprobes.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "internal.h"
#include "process/process.h"

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

/* ---- waiting for packets ---- */

enum mail { MAIL_NONE, MAIL_WAITS, MAIL_NEVER };

/* Is there a packet, at one of so many looks? Leaves word that the proxy sleeps, or does not. */
static enum mail look_for_mail(struct lwk_thread *thread, bool then_sleep, unsigned int looks)
{
	struct lwk_channel *channel;
	enum mail mail = MAIL_NEVER;

	spin_lock(&thread->lock);
	channel = thread->channel;
	if (channel) {
		if (READ_ONCE(channel->linux_sleeps) != then_sleep) {
			WRITE_ONCE(channel->linux_sleeps, then_sleep);
			smp_mb(); /* the LWK writes 'head', then reads 'linux_sleeps' */
		}
		do
			mail = READ_ONCE(channel->to_linux.head) !=
					       READ_ONCE(channel->to_linux.tail)
				       ? MAIL_WAITS
				       : MAIL_NONE;
		while (mail == MAIL_NONE && --looks);
		if (mail == MAIL_NONE &&
		    !state_has_processes(READ_ONCE(thread->process->instance->state)))
			mail = MAIL_NEVER;
	}
	spin_unlock(&thread->lock);
	return mail;
}

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
	if (has_cpu(thread))
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
			*wait, (mail = look_for_mail(thread, true, 1)) != MAIL_NONE,
			CHARGE_INTERVAL);
		charge(thread);
	}
	return look_for_mail(thread, false, 1);
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
	while ((mail = look_for_mail(thread, false, LOOKS)) == MAIL_NONE) {
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
	enum mail mail = look_for_mail(thread, false, 1);
	long left = 1;

	if (mail == MAIL_NONE)
		mail = wait_for_mail(thread, &left);
	if (mail == MAIL_WAITS)
		return 0;
	return left < 0 ? -EINTR : -EIO;
}

/* Are there some that the LWK has not taken? */
static bool signals_wait(const struct lwk_channel *channel)
{
	return READ_ONCE(channel->signals.head) != READ_ONCE(channel->signals.tail);
}

long serve_doorbell(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	long error = -EIO;

	down_read(&instance->rwsem);
	if (serves(instance) && thread->channel) {
		if (READ_ONCE(thread->channel->lwk_sleeps) || signals_wait(thread->channel))
			doorbell_ring(instance, thread->index);
		error = 0;
	}
	up_read(&instance->rwsem);
	return error;
}

/* ---- calls that are carried out here ---- */

/* The proxy keeps its own descriptors from its program. */
static bool closes_programs(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return packet->args[0] < serve->keep_from;
}

/* Nothing below /proc and /sys, where the proxy has answers of its own. */
static bool path_is_linuxs(u64 address)
{
	char start[sizeof("/proc")];

	return strncpy_from_user(start, (const char __user *)address, sizeof(start)) >= 0 &&
	       strncmp(start, "/proc", strlen("/proc")) != 0 &&
	       strncmp(start, "/sys", strlen("/sys")) != 0;
}

static bool opens_linuxs_path(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return path_is_linuxs(packet->args[0]);
}

static bool opens_linuxs_path_at(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return path_is_linuxs(packet->args[1]);
}

static struct {
	const char *symbol;
	/* NULL: any */
	bool (*suits)(const struct lwk_packet *packet, const struct lwk_serve *serve);
	/* NULL: not found */
	long (*function)(const struct pt_regs *regs);
} calls[] = {
	[__NR_read] = { "__x64_sys_read" },
	[__NR_write] = { "__x64_sys_write" },
	[__NR_open] = { "__x64_sys_open", opens_linuxs_path },
	[__NR_openat] = { "__x64_sys_openat", opens_linuxs_path_at },
	[__NR_close] = { "__x64_sys_close", closes_programs },
	[__NR_fstat] = { "__x64_sys_newfstat" },
	[__NR_lseek] = { "__x64_sys_lseek" },
	[__NR_pread64] = { "__x64_sys_pread64" },
	[__NR_pwrite64] = { "__x64_sys_pwrite64" },
	[__NR_readv] = { "__x64_sys_readv" },
	[__NR_writev] = { "__x64_sys_writev" },
};

/* The functions are not exported to modules, but a probe may be put on them. */
static void *find_function(const char *symbol)
{
#ifdef CONFIG_X86_KERNEL_IBT
	return NULL; /* The address found may lie behind the ENDBR that a call must meet. */
#else
	struct kprobe probe = { .symbol_name = symbol, .flags = KPROBE_FLAG_DISABLED };
	void *address;

	if (register_kprobe(&probe))
		return NULL;
	address = probe.addr;
	unregister_kprobe(&probe);
	return address;
#endif
}

void serve_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!calls[i].symbol)
			continue;
		calls[i].function = find_function(calls[i].symbol);
		if (!calls[i].function)
			pr_info("this kernel does not show %s(): proxies will make those calls, which takes longer\n",
				calls[i].symbol);
	}
}

/* The packet that waits first, which stays where it is. */
static bool peek(struct lwk_thread *thread, struct lwk_packet *packet)
{
	struct lwk_ring *ring;
	bool quiet = false;

	spin_lock(&thread->lock);
	if (thread->channel) {
		ring = &thread->channel->to_linux;
		quiet = !signals_wait(thread->channel);
		*packet = ring->slot[READ_ONCE(ring->tail) % LWK_RING_SLOTS];
	}
	spin_unlock(&thread->lock);
	return quiet;
}

/* Takes the first packet away and, unless that is left to the proxy, sends the reply. */
static void finish(struct lwk_thread *thread, const struct lwk_packet *reply)
{
	struct lwk_channel *channel;
	bool sleeps = false;
	u32 head;

	spin_lock(&thread->lock);
	channel = thread->channel;
	if (channel) {
		smp_store_release(&channel->to_linux.tail, READ_ONCE(channel->to_linux.tail) + 1);
		if (reply) {
			head = READ_ONCE(channel->to_lwk.head);
			channel->to_lwk.slot[head % LWK_RING_SLOTS] = *reply;
			smp_store_release(&channel->to_lwk.head, head + 1);
			smp_mb(); /* the LWK writes 'lwk_sleeps', then reads 'head' */
			sleeps = READ_ONCE(channel->lwk_sleeps);
		}
	}
	spin_unlock(&thread->lock);
	if (sleeps)
		serve_doorbell(thread);
}

/* Would the proxy's own system call do no more than the function? */
static bool may_call_here(struct lwk_packet *packet, const struct lwk_serve *serve)
{
	if (packet->kind != LWK_PACKET_REQUEST || packet->nr >= ARRAY_SIZE(calls))
		return false;
	/* The LWK chose it, and must not choose for a speculating CPU either. */
	packet->nr = array_index_nospec(packet->nr, ARRAY_SIZE(calls));
	return calls[packet->nr].function && !READ_ONCE(current_thread_info()->syscall_work) &&
	       !signal_pending(current) &&
	       (!calls[packet->nr].suits || calls[packet->nr].suits(packet, serve));
}

static bool restarts(s64 result)
{
	return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
	       result == -ERESTART_RESTARTBLOCK;
}

/* Carries out the call that waits first. False: there is something for the proxy to do. */
static bool call_here(struct lwk_thread *thread, struct lwk_serve *serve)
{
	struct lwk_packet packet, answer = { .kind = LWK_PACKET_REPLY };
	struct pt_regs regs;
	bool left_to_proxy;
	s64 result;

	if (!peek(thread, &packet) || !may_call_here(&packet, serve))
		return false;
	regs = (struct pt_regs){
		.orig_ax = packet.nr,
		.di = packet.args[0],
		.si = packet.args[1],
		.dx = packet.args[2],
		.r10 = packet.args[3],
		.r8 = packet.args[4],
		.r9 = packet.args[5],
	};
	result = calls[packet.nr].function(&regs);
	/* Nothing was done. The proxy does it again, unless a handler has run by then. */
	if (restarts(result))
		return false;
	thread->served++;
	left_to_proxy = signal_pending(current) || task_work_pending(current);
	answer.id = packet.id;
	answer.args[0] = result;
	finish(thread, left_to_proxy ? NULL : &answer);
	if (left_to_proxy) {
		serve->has_reply = 1;
		serve->id = packet.id;
		serve->result = result;
	}
	return !left_to_proxy;
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
