/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of system calls, and those that the LWK does itself. A row says LOCAL
 * (done here), WORK (done here, and long enough for its time to be counted), DELEGATED
 * (done by Linux through the proxy, restarted after a signal where Linux would),
 * UNRESTARTED (delegated, EINTR stays EINTR), or ABSENT (ENOSYS, which glibc expects of
 * an older kernel). What has no row is refused: ENOSYS and a line on the console.
 */
#include <asm/unistd.h>

#include "lwk/lwk.h"

/* ---- identity, CPUs ---- */

/* As many as a Linux kernel of the distributions can have. */
#define LINUX_CPUS 8192

static s64 sys_getpid(struct frame *frame)
{
	return this_process()->pid;
}

static s64 sys_gettid(struct frame *frame)
{
	return this_thread()->tid;
}

static s64 sys_done(struct frame *frame)
{
	return 0;
}

static void copy_name(char *to, const char *from, const char *suffix)
{
	size_t n = 0;

	for (; *from && n < 64; n++)
		to[n] = *from++;
	for (; *suffix && n < 64; n++)
		to[n] = *suffix++;
	to[n] = '\0';
}

static s64 sys_uname(struct frame *frame)
{
	/* The length of struct new_utsname's fields. */
	char names[6][65] = { "Linux" };

	copy_name(names[1], boot->nodename, "");
	copy_name(names[2], boot->linux_release, "+lwk");
	copy_name(names[3], LWK_VERSION, "");
	copy_name(names[4], "x86_64", "");
	copy_name(names[5], boot->domainname, "");
	return copy_to_user(frame->rdi, names, sizeof(names));
}

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

static s64 sys_arch_prctl(struct frame *frame)
{
	/* In the kernel the user's GS base is in the other register. */
	u32 msr = frame->rdi == ARCH_SET_FS || frame->rdi == ARCH_GET_FS ? MSR_FS_BASE
									 : MSR_KERNEL_GS_BASE;
	u64 base;

	switch (frame->rdi) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		if (frame->rsi >= LWK_USER_END)
			return -EPERM;
		write_msr(msr, frame->rsi);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		base = read_msr(msr);
		return copy_to_user(frame->rsi, &base, sizeof(base));
	default:
		return -EINVAL;
	}
}

/* May this process have threads there: is it one of its own CPUs, or nobody's? */
static bool may_use(u32 index)
{
	bool free = true;

	for (u32 i = index; i < boot->n_slots; i += boot->n_cpus) {
		const struct process *process = LOAD_ACQUIRE(slot_at(i)->process);

		if (process == this_process())
			return true;
		if (process || READ_ONCE(slot_at(i)->control->order) != LWK_ORDER_NONE)
			free = false;
	}
	return free;
}

static bool is_own(u32 tid)
{
	for (u32 i = 0; i < boot->n_slots; i++)
		if (LOAD_ACQUIRE(slot_at(i)->process) == this_process() &&
		    READ_ONCE(slot_at(i)->thread.tid) == tid)
			return true;
	return !tid;
}

/*
 * The CPUs that the process has or can still have threads on, by Linux's numbers. Of other
 * processes Linux tells.
 */
static s64 sys_sched_getaffinity(struct frame *frame)
{
	u64 mask[LINUX_CPUS / 64] = { 0 }, bytes = 0;
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx };

	if (!is_own(frame->rdi)) {
		this_slot()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(__NR_sched_getaffinity, args);
	}
	for (u32 i = 0; i < boot->n_cpus; i++) {
		u32 linux_cpu = boot->cpus[i].linux_cpu;

		/* The length does not depend on what others do. */
		bytes = MAX(bytes, linux_cpu / 64 * 8 + 8UL);
		if (linux_cpu < LINUX_CPUS && may_use(i))
			mask[linux_cpu / 64] |= 1UL << linux_cpu % 64;
	}
	bytes = MIN(bytes, sizeof(mask));
	if (frame->rsi < bytes || frame->rsi % sizeof(u64))
		return -EINVAL;
	return copy_to_user(frame->rdx, mask, bytes) ? -EFAULT : (s64)bytes;
}

/* A thread has its CPU and cannot go to another. */
static s64 sys_sched_setaffinity(struct frame *frame)
{
	u32 linux_cpu = boot->cpus[this_slot()->cpu->index].linux_cpu;
	u8 byte;

	if (frame->rsi <= linux_cpu / 8)
		return -EINVAL;
	if (copy_from_user(&byte, frame->rdx + linux_cpu / 8, 1))
		return -EFAULT;
	return byte & 1 << linux_cpu % 8 ? 0 : -EINVAL;
}

static s64 sys_sched_yield(struct frame *frame)
{
	/* Here, for the many that have the CPU for themselves. */
	if (this_slot()->cpu->n_busy > 1)
		slot_yield();
	return 0;
}

static s64 sys_getcpu(struct frame *frame)
{
	const struct lwk_boot_cpu *cpu = &boot->cpus[this_slot()->cpu->index];

	if ((frame->rdi && copy_to_user(frame->rdi, &cpu->linux_cpu, sizeof(u32))) ||
	    (frame->rsi && copy_to_user(frame->rsi, &cpu->node, sizeof(u32))))
		return -EFAULT;
	return 0;
}

/* ---- memory ---- */

#define MAP_SHARED_FLAG 0x01
#define MAP_FIXED_FLAG 0x10
#define MAP_ANONYMOUS_FLAG 0x20
#define MAP_POPULATE_FLAG 0x8000
#define MAP_HUGETLB_FLAG 0x40000
#define MAP_FIXED_NOREPLACE_FLAG 0x100000
#define MAP_TYPE 0x0f
#define MAP_SHARED_VALIDATE 0x03
/* With the type, and what says how a mapping is meant: DENYWRITE … STACK. */
#define MAP_KNOWN 0x17f93fUL

#define F_GETFL 3

/* For writing only, then. */
static bool is_open(u64 fd)
{
	u64 args[6] = { fd, F_GETFL };

	this_slot()->status->delegated_calls[LWK_CALLS_MEMORY]++;
	return channel_request(__NR_fcntl, args) >= 0;
}

/*
 * A private file mapping is a copy, read at once: pages of the file's cache are
 * Linux's. So is one that is only read, of a file whose pages cannot be shared. The pages are made
 * before Linux writes into them, because it would ask for them one by one.
 */
static s64 map_file(struct space *space, u64 addr, u64 size, u32 prot, u64 fd, u64 offset)
{
	s64 result = 0;

	for (u64 done = 0; done < size; done += result) {
		u64 part = MIN(size - done, LARGE_SIZE);
		u64 args[6] = { fd, addr + done, part, offset + done };

		result = space_populate(space, addr + done, part);
		if (result)
			break;
		result = channel_request(__NR_pread64, args);
		this_slot()->status->delegated_calls[LWK_CALLS_MEMORY]++;
		/* The proxy makes no call as long as a signal waits to be collected. */
		if (result == -EINTR) {
			signal_collect();
			result = 0;
		} else if (result <= 0) {
			break;
		}
	}
	if (result >= 0)
		result = space_protect(space, addr, size, prot);
	if (result < 0)
		space_unmap(space, addr, size);
	if (result == -EBADF && is_open(fd))
		return -EACCES;
	/* What cannot be read at an offset cannot be mapped: pipes, sockets, directories. */
	if (result == -ESPIPE || result == -EISDIR)
		return -ENODEV;
	return result < 0 ? (result == -EFAULT ? -ENOMEM : result) : (s64)addr;
}

/* For who wants to know which files are mapped. */
static s64 name_mapping(s64 addr, u64 size, u64 fd, u64 offset)
{
	u64 args[6] = { fd };
	s64 file;

	if (addr <= 0)
		return addr;
	this_slot()->status->delegated_calls[LWK_CALLS_MEMORY]++;
	file = channel_request(LWK_CALL_FILE, args);
	if (file > 0)
		space_set_file(&this_process()->space, addr, size, file, offset);
	return addr;
}

static s64 sys_mmap(struct frame *frame)
{
	struct space *space = &this_process()->space;
	u64 size = frame->rsi, prot = frame->rdx & PROT_ALL, flags = frame->r10;
	enum placement placement = flags & MAP_FIXED_NOREPLACE_FLAG ? MAP_EXACT
				   : flags & MAP_FIXED_FLAG	    ? MAP_REPLACE
								    : MAP_ANYWHERE;
	bool file = !(flags & MAP_ANONYMOUS_FLAG), shared = flags & MAP_SHARED_FLAG;
	s64 addr = 0;

	if (!(flags & MAP_TYPE))
		return -EINVAL;
	if ((flags & MAP_TYPE) == MAP_SHARED_VALIDATE && flags & ~MAP_KNOWN)
		return -EOPNOTSUPP;
	if (flags & MAP_HUGETLB_FLAG)
		return -ENOMEM; /* there is no such pool; large pages come by themselves */
	if (file && frame->r9 % PAGE_SIZE)
		return -EINVAL;
	if (shared)
		addr = space_map_shared(space, frame->rdi, size, prot, placement, flags, frame->r8,
					frame->r9);
	if (!addr && shared && prot & PROT_WRITE) {
		print("pid %u: mmap of a file that is not on tmpfs, shared and writable: not on this LWK",
		      this_process()->pid);
		return -ENODEV;
	}
	if (addr) {
		if (addr > 0 && flags & MAP_POPULATE_FLAG && prot)
			space_populate(space, addr, size);
		return file ? name_mapping(addr, size, frame->r8, frame->r9) : addr;
	}
	addr = space_map(space, frame->rdi, size, file ? PROT_READ | PROT_WRITE : prot, placement);
	if (addr < 0)
		return addr;
	if (file)
		return name_mapping(map_file(space, addr, size, prot, frame->r8, frame->r9), size,
				    frame->r8, frame->r9);
	if (flags & MAP_POPULATE_FLAG && prot)
		space_populate(space, addr, size);
	return addr;
}

static s64 sys_munmap(struct frame *frame)
{
	return space_unmap(&this_process()->space, frame->rdi, frame->rsi);
}

static s64 sys_mprotect(struct frame *frame)
{
	return space_protect(&this_process()->space, frame->rdi, frame->rsi, frame->rdx);
}

static s64 sys_brk(struct frame *frame)
{
	return space_set_brk(&this_process()->space, frame->rdi);
}

#define MREMAP_MAYMOVE 1

static s64 sys_mremap(struct frame *frame)
{
	if (frame->r10 & ~MREMAP_MAYMOVE)
		return -EINVAL;
	return space_resize(&this_process()->space, frame->rdi, frame->rsi, frame->rdx,
			    frame->r10 & MREMAP_MAYMOVE);
}

#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4

/* What is shared is memory: there is nothing to write. */
static s64 sys_msync(struct frame *frame)
{
	u64 addr = frame->rdi, size = ALIGN_UP(frame->rsi, PAGE_SIZE), flags = frame->rdx;

	if (flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC) || addr % PAGE_SIZE ||
	    (flags & MS_ASYNC && flags & MS_SYNC))
		return -EINVAL;
	return !size || space_is_mapped(&this_process()->space, addr, size) ? 0 : -ENOMEM;
}

#define MADV_DONTNEED 4
#define MADV_FREE 8

static s64 sys_madvise(struct frame *frame)
{
	if (frame->rdx == MADV_DONTNEED || frame->rdx == MADV_FREE)
		return space_discard(&this_process()->space, frame->rdi, frame->rsi);
	return frame->rdi % PAGE_SIZE ? -EINVAL : 0; /* advice may be ignored */
}

/* What the partition has, not the machine. */
static s64 sys_sysinfo(struct frame *frame)
{
	struct {
		s64 uptime;
		u64 loads[3], total, free, shared, buffers, swap_total, swap_free;
		u16 processes, pad;
		u64 high_total, high_free;
		u32 unit;
	} info = {
		.uptime = clock_monotonic() / 1000000000,
		.total = status->user_bytes,
		.free = user_free_bytes(),
		.processes = boot->n_cpus,
		.unit = 1,
	};

	return copy_to_user(frame->rdi, &info, sizeof(info));
}

/* ---- time ---- */

struct timespec {
	s64 sec, nsec;
};

static u64 thread_ns(void)
{
	return clock_cycles_to_ns(rdtsc() - this_slot()->start_tsc);
}

/* A CPU is its thread's from start to end, but for the turns of others. */
static u64 cycles_until(const struct slot *slot, u64 now)
{
	u64 end = LOAD_ACQUIRE(slot->cpu->current) == slot ? now : READ_ONCE(slot->stopped_tsc);
	u64 start = READ_ONCE(slot->start_tsc);

	/* Its turn may begin just now. */
	return end > start ? end - start : 0;
}

static u64 process_ns(void)
{
	const struct process *process = this_process();
	u64 now = rdtsc(), cycles = READ_ONCE(process->past_cycles) + now - this_slot()->start_tsc;

	for (u32 i = 0; READ_ONCE(process->n_slots) > 1 && i < boot->n_slots; i++) {
		const struct slot *slot = slot_at(i);

		if (slot != this_slot() && LOAD_ACQUIRE(slot->process) == process &&
		    READ_ONCE(slot->running))
			cycles += cycles_until(slot, now);
	}
	return clock_cycles_to_ns(cycles);
}

static s64 sys_clock_gettime(struct frame *frame)
{
	enum lwk_clock_kind kind = clock_kind(frame->rdi);
	struct timespec time;
	u64 ns;

	if (kind != LWK_CLOCK_KINDS)
		ns = clock_now(kind);
	else if (frame->rdi == 2) /* CLOCK_PROCESS_CPUTIME_ID */
		ns = process_ns();
	else if (frame->rdi == 3) /* CLOCK_THREAD_CPUTIME_ID */
		ns = thread_ns();
	else
		return -EINVAL;
	time = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return copy_to_user(frame->rsi, &time, sizeof(time));
}

static s64 sys_clock_getres(struct frame *frame)
{
	struct timespec time = { 0, 1 };

	if (frame->rdi > 3 && clock_kind(frame->rdi) == LWK_CLOCK_KINDS)
		return -EINVAL;
	return frame->rsi ? copy_to_user(frame->rsi, &time, sizeof(time)) : 0;
}

static s64 sys_gettimeofday(struct frame *frame)
{
	u64 us = clock_realtime() / 1000;
	struct timespec time = { us / 1000000, us % 1000000 };

	if (frame->rsi) {
		u64 zone = 0;

		if (copy_to_user(frame->rsi, &zone, sizeof(zone)))
			return -EFAULT;
	}
	return frame->rdi ? copy_to_user(frame->rdi, &time, sizeof(time)) : 0;
}

static s64 sys_time(struct frame *frame)
{
	s64 seconds = clock_realtime() / 1000000000;

	if (frame->rdi && copy_to_user(frame->rdi, &seconds, sizeof(seconds)))
		return -EFAULT;
	return seconds;
}

#define RUSAGE_SELF 0
#define RUSAGE_THREAD 1
#define RUSAGE_CHILDREN (-1)

static s64 sys_getrusage(struct frame *frame)
{
	u64 args[6] = { frame->rdi, frame->rsi }, us;
	s64 usage[18] = { 0 };
	int who = frame->rdi;

	/* Linux has charged their proxies. */
	if (who == RUSAGE_CHILDREN) {
		this_slot()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(__NR_getrusage, args);
	}
	if (who != RUSAGE_SELF && who != RUSAGE_THREAD)
		return -EINVAL;
	us = (who == RUSAGE_THREAD ? thread_ns() : process_ns()) / 1000;
	usage[0] = us / 1000000; /* ru_utime */
	usage[1] = us % 1000000;
	usage[4] = this_process()->space.peak_bytes / 1024; /* ru_maxrss */
	usage[6] = this_slot()->status->faults;		    /* ru_minflt */
	return copy_to_user(frame->rsi, usage, sizeof(usage));
}

/* ---- the rest ---- */

static s64 sys_exit_group(struct frame *frame)
{
	process_exit((frame->rdi & 0xff) << 8);
}

static s64 sys_prctl(struct frame *frame)
{
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8 };

	/* Only what is the process's by its proxy being so; the rest would change how that works. */
	switch (frame->rdi) {
	case 1:	 /* PR_SET_PDEATHSIG */
	case 2:	 /* PR_GET_PDEATHSIG */
	case 3:	 /* PR_GET_DUMPABLE */
	case 7:	 /* PR_GET_KEEPCAPS */
	case 15: /* PR_SET_NAME */
	case 16: /* PR_GET_NAME */
	case 23: /* PR_CAPBSET_READ */
	case 27: /* PR_GET_SECUREBITS */
	case 29: /* PR_SET_TIMERSLACK */
	case 30: /* PR_GET_TIMERSLACK */
	case 36: /* PR_SET_CHILD_SUBREAPER */
	case 37: /* PR_GET_CHILD_SUBREAPER */
	case 38: /* PR_SET_NO_NEW_PRIVS */
	case 39: /* PR_GET_NO_NEW_PRIVS */
		this_slot()->status->delegated_calls[LWK_CALLS_PROCESS]++;
		return channel_request(__NR_prctl, args);
	default:
		return -EINVAL;
	}
}

enum kind { REFUSED = 0, LOCAL_KIND, WORK_KIND, DELEGATED_KIND, UNRESTARTED_KIND, ABSENT_KIND };

struct call {
	u8 kind;
	u8 about; /* enum lwk_call_kind, of what is delegated */
	s64 (*local)(struct frame *frame);
};

#define LOCAL(function)                                                                            \
	{                                                                                          \
		LOCAL_KIND, 0, function                                                            \
	}
#define WORK(function)                                                                             \
	{                                                                                          \
		WORK_KIND, 0, function                                                             \
	}
#define DELEGATED(about)                                                                           \
	{                                                                                          \
		DELEGATED_KIND, LWK_CALLS_##about, NULL                                            \
	}
#define UNRESTARTED(about)                                                                         \
	{                                                                                          \
		UNRESTARTED_KIND, LWK_CALLS_##about, NULL                                          \
	}
#define ABSENT                                                                                     \
	{                                                                                          \
		ABSENT_KIND, 0, NULL                                                               \
	}

static const struct call calls[] = {
	/* files */
	[__NR_read] = DELEGATED(TRANSFER),
	[__NR_write] = DELEGATED(TRANSFER),
	[__NR_open] = DELEGATED(FILES),
	[__NR_close] = DELEGATED(FILES),
	[__NR_stat] = DELEGATED(FILES),
	[__NR_fstat] = DELEGATED(FILES),
	[__NR_lstat] = DELEGATED(FILES),
	[__NR_lseek] = DELEGATED(FILES),
	[__NR_ioctl] = DELEGATED(FILES),
	[__NR_pread64] = DELEGATED(TRANSFER),
	[__NR_pwrite64] = DELEGATED(TRANSFER),
	[__NR_readv] = DELEGATED(TRANSFER),
	[__NR_writev] = DELEGATED(TRANSFER),
	[__NR_preadv] = DELEGATED(TRANSFER),
	[__NR_pwritev] = DELEGATED(TRANSFER),
	[__NR_preadv2] = DELEGATED(TRANSFER),
	[__NR_pwritev2] = DELEGATED(TRANSFER),
	[__NR_access] = DELEGATED(FILES),
	[__NR_pipe] = DELEGATED(FILES),
	[__NR_pipe2] = DELEGATED(FILES),
	[__NR_dup] = DELEGATED(FILES),
	[__NR_dup2] = DELEGATED(FILES),
	[__NR_dup3] = DELEGATED(FILES),
	[__NR_fcntl] = DELEGATED(FILES),
	[__NR_flock] = DELEGATED(FILES),
	[__NR_fsync] = DELEGATED(FILES),
	[__NR_fdatasync] = DELEGATED(FILES),
	[__NR_truncate] = DELEGATED(FILES),
	[__NR_ftruncate] = DELEGATED(FILES),
	[__NR_getdents] = DELEGATED(FILES),
	[__NR_getdents64] = DELEGATED(FILES),
	[__NR_getcwd] = DELEGATED(FILES),
	[__NR_chdir] = DELEGATED(FILES),
	[__NR_fchdir] = DELEGATED(FILES),
	[__NR_rename] = DELEGATED(FILES),
	[__NR_mkdir] = DELEGATED(FILES),
	[__NR_rmdir] = DELEGATED(FILES),
	[__NR_creat] = DELEGATED(FILES),
	[__NR_link] = DELEGATED(FILES),
	[__NR_unlink] = DELEGATED(FILES),
	[__NR_symlink] = DELEGATED(FILES),
	[__NR_readlink] = DELEGATED(FILES),
	[__NR_chmod] = DELEGATED(FILES),
	[__NR_fchmod] = DELEGATED(FILES),
	[__NR_chown] = DELEGATED(FILES),
	[__NR_fchown] = DELEGATED(FILES),
	[__NR_lchown] = DELEGATED(FILES),
	[__NR_umask] = DELEGATED(FILES),
	[__NR_mknod] = DELEGATED(FILES),
	[__NR_mknodat] = DELEGATED(FILES),
	[__NR_statfs] = DELEGATED(FILES),
	[__NR_fstatfs] = DELEGATED(FILES),
	[__NR_utime] = DELEGATED(FILES),
	[__NR_utimes] = DELEGATED(FILES),
	[__NR_utimensat] = DELEGATED(FILES),
	[__NR_futimesat] = DELEGATED(FILES),
	[__NR_openat] = DELEGATED(FILES),
	[__NR_openat2] = DELEGATED(FILES),
	[__NR_mkdirat] = DELEGATED(FILES),
	[__NR_fchownat] = DELEGATED(FILES),
	[__NR_newfstatat] = DELEGATED(FILES),
	[__NR_unlinkat] = DELEGATED(FILES),
	[__NR_renameat] = DELEGATED(FILES),
	[__NR_renameat2] = DELEGATED(FILES),
	[__NR_linkat] = DELEGATED(FILES),
	[__NR_symlinkat] = DELEGATED(FILES),
	[__NR_readlinkat] = DELEGATED(FILES),
	[__NR_fchmodat] = DELEGATED(FILES),
	[__NR_faccessat] = DELEGATED(FILES),
	[__NR_faccessat2] = DELEGATED(FILES),
	[__NR_statx] = DELEGATED(FILES),
	[__NR_fallocate] = DELEGATED(FILES),
	[__NR_fadvise64] = DELEGATED(FILES),
	[__NR_readahead] = DELEGATED(FILES),
	[__NR_sendfile] = DELEGATED(TRANSFER),
	[__NR_copy_file_range] = DELEGATED(TRANSFER),
	[__NR_splice] = DELEGATED(TRANSFER),
	[__NR_tee] = DELEGATED(TRANSFER),
	[__NR_sync] = DELEGATED(FILES),
	[__NR_syncfs] = DELEGATED(FILES),
	[__NR_sync_file_range] = DELEGATED(FILES),
	[__NR_close_range] = DELEGATED(FILES),
	[__NR_memfd_create] = DELEGATED(FILES),
	[__NR_setxattr] = DELEGATED(FILES),
	[__NR_lsetxattr] = DELEGATED(FILES),
	[__NR_fsetxattr] = DELEGATED(FILES),
	[__NR_getxattr] = DELEGATED(FILES),
	[__NR_lgetxattr] = DELEGATED(FILES),
	[__NR_fgetxattr] = DELEGATED(FILES),
	[__NR_listxattr] = DELEGATED(FILES),
	[__NR_llistxattr] = DELEGATED(FILES),
	[__NR_flistxattr] = DELEGATED(FILES),
	[__NR_removexattr] = DELEGATED(FILES),
	[__NR_lremovexattr] = DELEGATED(FILES),
	[__NR_fremovexattr] = DELEGATED(FILES),
	[__NR_inotify_init] = DELEGATED(FILES),
	[__NR_inotify_init1] = DELEGATED(FILES),
	[__NR_inotify_add_watch] = DELEGATED(FILES),
	[__NR_inotify_rm_watch] = DELEGATED(FILES),
	[__NR_eventfd] = DELEGATED(FILES),
	[__NR_eventfd2] = DELEGATED(FILES),
	[__NR_timerfd_create] = DELEGATED(TIME),
	[__NR_timerfd_settime] = DELEGATED(TIME),
	[__NR_timerfd_gettime] = DELEGATED(TIME),
	[__NR_epoll_create] = DELEGATED(WAIT),
	[__NR_epoll_create1] = DELEGATED(WAIT),
	[__NR_epoll_ctl] = DELEGATED(WAIT),

	/* waiting: Linux never restarts these after a handler (signal(7)) */
	[__NR_poll] = UNRESTARTED(WAIT),
	[__NR_ppoll] = UNRESTARTED(WAIT),
	[__NR_select] = UNRESTARTED(WAIT),
	[__NR_pselect6] = UNRESTARTED(WAIT),
	[__NR_epoll_wait] = UNRESTARTED(WAIT),
	[__NR_epoll_pwait] = UNRESTARTED(WAIT),
	[__NR_nanosleep] = UNRESTARTED(WAIT),
	[__NR_clock_nanosleep] = UNRESTARTED(WAIT),
	[__NR_epoll_pwait2] = UNRESTARTED(WAIT),
	[__NR_semop] = UNRESTARTED(WAIT),
	[__NR_semtimedop] = UNRESTARTED(WAIT),
	[__NR_msgsnd] = UNRESTARTED(WAIT),
	[__NR_msgrcv] = UNRESTARTED(WAIT),

	/* messages, semaphores, segments */
	[__NR_semget] = DELEGATED(FILES),
	[__NR_semctl] = DELEGATED(FILES),
	[__NR_shmget] = DELEGATED(FILES),
	[__NR_shmctl] = DELEGATED(FILES),
	[__NR_shmat] = WORK(sys_shmat),
	[__NR_shmdt] = WORK(sys_shmdt),
	[__NR_msgget] = DELEGATED(FILES),
	[__NR_msgctl] = DELEGATED(FILES),
	[__NR_mq_open] = DELEGATED(FILES),
	[__NR_mq_unlink] = DELEGATED(FILES),
	[__NR_mq_getsetattr] = DELEGATED(FILES),
	[__NR_mq_notify] = DELEGATED(FILES),
	[__NR_mq_timedsend] = DELEGATED(WAIT),
	[__NR_mq_timedreceive] = DELEGATED(WAIT),

	/* sockets */
	[__NR_socket] = DELEGATED(NETWORK),
	[__NR_connect] = DELEGATED(NETWORK),
	[__NR_accept] = DELEGATED(NETWORK),
	[__NR_accept4] = DELEGATED(NETWORK),
	[__NR_sendto] = DELEGATED(NETWORK),
	[__NR_recvfrom] = DELEGATED(NETWORK),
	[__NR_sendmsg] = DELEGATED(NETWORK),
	[__NR_recvmsg] = DELEGATED(NETWORK),
	[__NR_sendmmsg] = DELEGATED(NETWORK),
	[__NR_recvmmsg] = DELEGATED(NETWORK),
	[__NR_shutdown] = DELEGATED(NETWORK),
	[__NR_bind] = DELEGATED(NETWORK),
	[__NR_listen] = DELEGATED(NETWORK),
	[__NR_getsockname] = DELEGATED(NETWORK),
	[__NR_getpeername] = DELEGATED(NETWORK),
	[__NR_socketpair] = DELEGATED(NETWORK),
	[__NR_setsockopt] = DELEGATED(NETWORK),
	[__NR_getsockopt] = DELEGATED(NETWORK),

	/* identity: the proxy's is the process's */
	[__NR_getpid] = LOCAL(sys_getpid),
	[__NR_gettid] = LOCAL(sys_gettid),
	[__NR_getppid] = DELEGATED(PROCESS),
	[__NR_getuid] = DELEGATED(PROCESS),
	[__NR_geteuid] = DELEGATED(PROCESS),
	[__NR_getgid] = DELEGATED(PROCESS),
	[__NR_getegid] = DELEGATED(PROCESS),
	[__NR_getresuid] = DELEGATED(PROCESS),
	[__NR_getresgid] = DELEGATED(PROCESS),
	[__NR_getgroups] = DELEGATED(PROCESS),
	[__NR_getpgrp] = DELEGATED(PROCESS),
	[__NR_getpgid] = DELEGATED(PROCESS),
	[__NR_setpgid] = DELEGATED(PROCESS),
	[__NR_getsid] = DELEGATED(PROCESS),
	[__NR_setsid] = DELEGATED(PROCESS),
	[__NR_getpriority] = DELEGATED(PROCESS),
	[__NR_setpriority] = DELEGATED(PROCESS),
	[__NR_ioprio_get] = DELEGATED(PROCESS),
	[__NR_ioprio_set] = DELEGATED(PROCESS),
	[__NR_capget] = DELEGATED(PROCESS),
	[__NR_getrlimit] = DELEGATED(PROCESS),
	[__NR_setrlimit] = DELEGATED(PROCESS),
	[__NR_prlimit64] = DELEGATED(PROCESS),
	[__NR_getrandom] = DELEGATED(PROCESS),
	[__NR_prctl] = LOCAL(sys_prctl),
	[__NR_uname] = LOCAL(sys_uname),
	[__NR_set_tid_address] = LOCAL(sys_set_tid_address),
	[__NR_arch_prctl] = LOCAL(sys_arch_prctl),
	[__NR_wait4] = DELEGATED(WAIT),
	[__NR_waitid] = DELEGATED(WAIT),
	[__NR_sethostname] = DELEGATED(PROCESS),

	/* CPUs */
	[__NR_sched_yield] = LOCAL(sys_sched_yield),
	[__NR_getcpu] = LOCAL(sys_getcpu),
	[__NR_sched_getaffinity] = LOCAL(sys_sched_getaffinity),
	[__NR_sched_setaffinity] = LOCAL(sys_sched_setaffinity),
	[__NR_sched_getscheduler] = DELEGATED(PROCESS),
	[__NR_sched_getparam] = DELEGATED(PROCESS),
	[__NR_sched_get_priority_max] = DELEGATED(PROCESS),
	[__NR_sched_get_priority_min] = DELEGATED(PROCESS),
	[__NR_sched_rr_get_interval] = DELEGATED(PROCESS),

	/* memory */
	[__NR_mmap] = WORK(sys_mmap),
	[__NR_munmap] = WORK(sys_munmap),
	[__NR_mprotect] = WORK(sys_mprotect),
	[__NR_brk] = WORK(sys_brk),
	[__NR_mremap] = WORK(sys_mremap),
	[__NR_madvise] = WORK(sys_madvise),
	[__NR_set_mempolicy] = LOCAL(sys_set_mempolicy),
	[__NR_get_mempolicy] = WORK(sys_get_mempolicy),
	[__NR_mbind] = WORK(sys_mbind),
	[__NR_msync] = LOCAL(sys_msync),
	[__NR_sysinfo] = LOCAL(sys_sysinfo),
	/* nothing is ever paged out */
	[__NR_mlock] = LOCAL(sys_done),
	[__NR_mlock2] = LOCAL(sys_done),
	[__NR_munlock] = LOCAL(sys_done),
	[__NR_mlockall] = LOCAL(sys_done),
	[__NR_munlockall] = LOCAL(sys_done),

	/* time */
	[__NR_clock_gettime] = LOCAL(sys_clock_gettime),
	[__NR_clock_getres] = LOCAL(sys_clock_getres),
	[__NR_gettimeofday] = LOCAL(sys_gettimeofday),
	[__NR_time] = LOCAL(sys_time),
	[__NR_getrusage] = LOCAL(sys_getrusage),
	[__NR_times] = DELEGATED(TIME),
	[__NR_alarm] = DELEGATED(TIME),
	[__NR_setitimer] = DELEGATED(TIME),
	[__NR_getitimer] = DELEGATED(TIME),
	[__NR_timer_create] = DELEGATED(TIME),
	[__NR_timer_settime] = DELEGATED(TIME),
	[__NR_timer_gettime] = DELEGATED(TIME),
	[__NR_timer_getoverrun] = LOCAL(sys_timer_getoverrun),
	[__NR_timer_delete] = DELEGATED(TIME),

	/* signals */
	[__NR_rt_sigaction] = LOCAL(sys_rt_sigaction),
	[__NR_rt_sigprocmask] = LOCAL(sys_rt_sigprocmask),
	[__NR_rt_sigreturn] = LOCAL(signal_return),
	[__NR_rt_sigpending] = LOCAL(sys_rt_sigpending),
	[__NR_rt_sigtimedwait] = LOCAL(sys_rt_sigtimedwait),
	[__NR_rt_sigqueueinfo] = LOCAL(sys_rt_sigqueueinfo),
	[__NR_rt_tgsigqueueinfo] = LOCAL(sys_rt_tgsigqueueinfo),
	[__NR_rt_sigsuspend] = LOCAL(sys_rt_sigsuspend),
	[__NR_pause] = LOCAL(sys_pause),
	[__NR_sigaltstack] = LOCAL(sys_sigaltstack),
	[__NR_kill] = LOCAL(sys_kill),
	[__NR_tkill] = LOCAL(sys_tkill),
	[__NR_tgkill] = LOCAL(sys_tgkill),

	/* processes and threads */
	[__NR_exit] = LOCAL(sys_exit),
	[__NR_exit_group] = LOCAL(sys_exit_group),
	[__NR_clone] = LOCAL(sys_clone),
	[__NR_fork] = LOCAL(sys_fork),
	[__NR_vfork] = LOCAL(sys_vfork),
	[__NR_execve] = LOCAL(sys_execve),
	[__NR_execveat] = LOCAL(sys_execveat),
	[__NR_clone3] = ABSENT, /* glibc then takes clone */
	[__NR_futex] = LOCAL(sys_futex),
	[__NR_set_robust_list] = LOCAL(sys_set_robust_list),
	[__NR_rseq] = ABSENT,
	[__NR_membarrier] = ABSENT,
};

/* Blocked and ignored signals end no call on Linux, but they do end the proxy's. */
static bool restarts(const struct call *call)
{
	signal_collect();
	return call->kind == DELEGATED_KIND || !signal_effective();
}

/* Where such a call has the signals that it blocks instead; 0: it has none. */
static u64 mask_address(const struct frame *frame)
{
	u64 pair[2];

	switch (frame->error) {
	case __NR_ppoll:
		return frame->r8 == sizeof(u64) ? frame->r10 : 0;
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return frame->r9 == sizeof(u64) ? frame->r8 : 0;
	case __NR_pselect6:
		if (frame->r9 && !copy_from_user(pair, frame->r9, sizeof(pair)) &&
		    pair[1] == sizeof(u64))
			return pair[0];
		return 0;
	default:
		return 0;
	}
}

/* With the mask until the call has ended, or until the handler of the signal that ended it has. */
static s64 request_masked(struct frame *frame, const u64 args[6])
{
	u64 address = mask_address(frame), mask;
	s64 result;

	if (!address || copy_from_user(&mask, address, sizeof(mask)))
		return channel_request(frame->error, args);
	signal_suspend(mask);
	result = signal_effective() ? -EINTR : channel_request(frame->error, args);
	if (result != -EINTR)
		signal_unsuspend();
	return result;
}

static s64 delegate(struct frame *frame, const struct call *call)
{
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8, frame->r9 };
	s64 result = request_masked(frame, args);

	this_slot()->status->delegated_calls[call->about]++;
	if (result == LWK_RESULT_AREAS) {
		result = space_tell(&this_process()->space);
		if (!result)
			result = request_masked(frame, args);
	}
	this_thread()->interrupted = result == -EINTR && restarts(call);
	return result;
}

static s64 work(struct frame *frame, const struct call *call)
{
	s64 result;

	account(LWK_CPU_SYSTEM);
	result = call->local(frame);
	account(LWK_CPU_USER);
	return result;
}

static s64 dispatch(struct frame *frame)
{
	u64 nr = frame->error;
	const struct call *call = nr < ARRAY_SIZE(calls) ? &calls[nr] : NULL;

	switch (call ? call->kind : REFUSED) {
	case LOCAL_KIND:
		this_slot()->status->local_calls++;
		return call->local(frame);
	case WORK_KIND:
		this_slot()->status->local_calls++;
		return work(frame, call);
	case DELEGATED_KIND:
	case UNRESTARTED_KIND:
		return delegate(frame, call);
	case ABSENT_KIND:
		return -ENOSYS;
	default:
		print("pid %u: system call %llu is not on this LWK", this_process()->pid, nr);
		return -ENOSYS;
	}
}

void syscall(struct frame *frame)
{
	heartbeat();
	frame->rax = dispatch(frame);
	before_user(frame);
	leave_kernel();
}
