// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Carries out the most used system calls on files in the kernel, which saves the return to the
 * proxy's program.
 *
 * The functions are Linux's own, found by a trick and called in the proxy's context: credentials,
 * descriptors, limits, accounting, results and signals are those of a call that the proxy makes
 * itself. Linux does more on the way into a system call (seccomp, ptrace, audit): a proxy to which
 * any of these applies gets its packets itself. Linux does more on the way out (signals, and before
 * Linux 6.6 the last close of a file): then the proxy sends the reply, afterwards.
 */
#include "process/calls/calls.h"

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "compat/compat.h"
#include "process/thread/channel.h"
#include "tricks/tricks.h"

/* True when the descriptor is one of the program's. The proxy's own ones must stay open. */
static bool closes_program_file(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return packet->args[0] < serve->keep_from;
}

/* Returns false for paths below /proc and /sys, because the proxy answers some of these itself. */
static bool is_linux_path(u64 address)
{
	char start[sizeof("/proc")];

	return strncpy_from_user(start, (const char __user *)address, sizeof(start)) >= 0 &&
	       strncmp(start, "/proc", strlen("/proc")) != 0 &&
	       strncmp(start, "/sys", strlen("/sys")) != 0;
}

static bool opens_linux_path(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return is_linux_path(packet->args[0]);
}

static bool opens_linux_path_at(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return is_linux_path(packet->args[1]);
}

/* A wait that a signal ends is the proxy's, as Linux does not begin it again. */
static bool looks_for_events(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return (int)packet->args[3] == 0;
}

static bool looks_for_events_only(const struct lwk_packet *packet, const struct lwk_serve *serve)
{
	return looks_for_events(packet, serve) && !packet->args[4];
}

static struct {
	const char *symbol;
	/* True when this packet may be carried out here; NULL: every packet may. */
	bool (*suits)(const struct lwk_packet *packet, const struct lwk_serve *serve);
	/* Linux's function, or NULL: not found. */
	trick_call function;
} calls[] = {
	[__NR_read] = { "__x64_sys_read" },
	[__NR_write] = { "__x64_sys_write" },
	[__NR_open] = { "__x64_sys_open", opens_linux_path },
	[__NR_openat] = { "__x64_sys_openat", opens_linux_path_at },
	[__NR_close] = { "__x64_sys_close", closes_program_file },
	[__NR_fstat] = { "__x64_sys_newfstat" },
	[__NR_lseek] = { "__x64_sys_lseek" },
	[__NR_pread64] = { "__x64_sys_pread64" },
	[__NR_pwrite64] = { "__x64_sys_pwrite64" },
	[__NR_readv] = { "__x64_sys_readv" },
	[__NR_writev] = { "__x64_sys_writev" },
	[__NR_epoll_wait] = { "__x64_sys_epoll_wait", looks_for_events },
	[__NR_epoll_pwait] = { "__x64_sys_epoll_pwait", looks_for_events_only },
};

void calls_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].symbol)
			calls[i].function = trick_find_call(calls[i].symbol);
	}
}

/* True when a system call of the proxy would do no more than the function. Bounds packet->nr. */
static bool may_call_here(struct lwk_packet *packet, const struct lwk_serve *serve)
{
	if (packet->kind != LWK_PACKET_REQUEST || packet->nr >= ARRAY_SIZE(calls))
		return false;
	/* The LWK chose the number, which must not lead a speculating CPU out of the table. */
	packet->nr = array_index_nospec(packet->nr, ARRAY_SIZE(calls));
	return calls[packet->nr].function && !compat_syscall_work(current) &&
	       !signal_pending(current) &&
	       (!calls[packet->nr].suits || calls[packet->nr].suits(packet, serve));
}

static bool restarts(s64 result)
{
	return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
	       result == -ERESTART_RESTARTBLOCK;
}

/*
 * Linux has no pages of the program's memory to hand over, as it does with O_DIRECT, so that such a
 * transfer fails; the proxy makes it in another way. Where it fails for another reason, or another
 * call does, the proxy repeats it, which does no harm to a file on a disk.
 */
static bool failed_direct(const struct lwk_packet *packet, s64 result)
{
	struct file *file = result == -EFAULT ? fget(packet->args[0]) : NULL;
	umode_t mode = file ? file_inode(file)->i_mode : 0;

	if (file)
		fput(file);
	return S_ISREG(mode) || S_ISBLK(mode);
}

static s64 make_call(const struct lwk_packet *packet)
{
	struct pt_regs regs = {
		.orig_ax = packet->nr,
		.di = packet->args[0],
		.si = packet->args[1],
		.dx = packet->args[2],
		.r10 = packet->args[3],
		.r8 = packet->args[4],
		.r9 = packet->args[5],
	};

	return calls[packet->nr].function(&regs);
}

/*
 * The descriptor may be that of the device, in whose ioctl(2) this is. Linux takes no reference for
 * an ioctl(2) of a task that shares its files with nobody, and since Linux 6.6 it closes the file
 * within close(2), which would free the process here. fput() leaves the last close to the way out.
 */
static s64 close_here(struct lwk_process *process, const struct lwk_packet *packet)
{
	struct file *file = get_file(process->file);
	s64 result = make_call(packet);

	fput(file);
	return result;
}

bool call_here(struct lwk_thread *thread, struct lwk_serve *serve)
{
	struct lwk_packet packet;
	bool left_to_proxy;
	s64 result;

	if (!channel_peek(thread, &packet) || !may_call_here(&packet, serve))
		return false;
	result =
		packet.nr == __NR_close ? close_here(thread->process, &packet) : make_call(&packet);
	/* A signal came before anything was done: the proxy handles it, then makes the call. */
	if (restarts(result) || failed_direct(&packet, result))
		return false;
	thread->served++;
	left_to_proxy = signal_pending(current) || READ_ONCE(current->task_works);
	if (left_to_proxy) {
		channel_drop(thread);
		serve->has_reply = 1;
		serve->id = packet.id;
		serve->result = result;
	} else if (channel_answer(thread, packet.id, result)) {
		channel_ring(thread);
	}
	return !left_to_proxy;
}
