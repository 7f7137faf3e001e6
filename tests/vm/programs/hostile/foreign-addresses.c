/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hands addresses that are not its own to every call that reads or writes memory, with real files,
 * pipes and sockets behind, so that data would flow. Prints each call that takes one, and how many
 * were tried. It ends with a kernel's addresses where the kernel writes at a thread's end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <asm/prctl.h>

#include "abi/shared/layout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PAGE 4096UL

static unsigned tries, wrong;
static const char *place;
static uint64_t mine[512] __attribute__((aligned(4096)));
static int file, ends[2], sockets[2], events;

static void refused(const char *call, long result)
{
	static const int good[] = { EFAULT, EINVAL, ENOMEM, EPERM, EAGAIN };

	tries++;
	for (size_t i = 0; result < 0 && i < COUNT(good); i++)
		if (errno == good[i])
			return;
	printf("%s took an address in %s: %ld, %s\n", call, place, result, strerror(errno));
	wrong++;
}

#define REFUSED(call, ...) refused(#call, syscall(SYS_##call, ##__VA_ARGS__))

/* Fills the pipe and the socket, so that a transfer has data. */
static void refill(void)
{
	char drain[256];

	while (read(ends[0], drain, sizeof(drain)) > 0)
		;
	while (recv(sockets[0], drain, sizeof(drain), MSG_DONTWAIT) > 0)
		;
	if (write(ends[1], mine, 64) != 64 || write(sockets[1], mine, 64) != 64)
		puts("cannot refill");
	lseek(file, 0, SEEK_SET);
}

/* Calls that Linux carries out and that write to 'at'. */
static void delegated_writes(uint64_t at)
{
	struct iovec to = { (void *)at, 64 }, two[2] = { { mine, 8 }, { (void *)at, 64 } };
	struct msghdr message = { .msg_iov = &to, .msg_iovlen = 1 };
	socklen_t size = 4;

	refill();
	REFUSED(read, file, at, 64);
	REFUSED(read, ends[0], at, 64);
	REFUSED(pread64, file, at, 64, 0);
	REFUSED(readv, file, &to, 1);
	REFUSED(preadv, file, &to, 1, 0, 0);
	/* A call may return the bytes that came before the bad part. */
	lseek(file, 0, SEEK_SET);
	if (readv(file, two, 2) > 8)
		refused("readv of two", 1);
	REFUSED(fstat, file, at);
	REFUSED(statx, AT_FDCWD, "/", 0, STATX_ALL, at);
	REFUSED(ioctl, ends[0], FIONREAD, at);
	REFUSED(recvfrom, sockets[0], at, 64, 0, 0, 0);
	REFUSED(recvmsg, sockets[0], &message, MSG_DONTWAIT);
	REFUSED(getsockopt, sockets[0], SOL_SOCKET, SO_TYPE, at, &size);
	REFUSED(getcwd, at, 64);
	REFUSED(readlink, "/proc/self/exe", at, 64);
	REFUSED(pipe2, at, 0);
	REFUSED(getrandom, at, 64, 0);
	REFUSED(epoll_wait, events, at, 1, 0);
}

/* Calls that Linux carries out and that read from 'at'. */
static void delegated_reads(uint64_t at)
{
	struct iovec from = { (void *)at, 64 };
	struct msghdr message = { .msg_iov = &from, .msg_iovlen = 1 };

	REFUSED(write, ends[1], at, 64);
	REFUSED(write, file, at, 64);
	REFUSED(pwrite64, file, at, 64, 0);
	REFUSED(writev, ends[1], &from, 1);
	REFUSED(writev, ends[1], at, 1);
	REFUSED(sendto, sockets[1], at, 64, MSG_DONTWAIT, 0, 0);
	REFUSED(sendmsg, sockets[1], &message, MSG_DONTWAIT);
	REFUSED(open, at, O_RDONLY);
	REFUSED(openat, AT_FDCWD, at, O_RDONLY);
	REFUSED(nanosleep, at, 0);
	REFUSED(setsockopt, sockets[0], SOL_SOCKET, SO_RCVBUF, at, 4);
	REFUSED(fcntl, file, F_GETLK, at);
	REFUSED(poll, at, 1, 0);
}

/* Calls that the LWK carries out in ring 0 and that write to 'at'. */
static void local_writes(uint64_t at)
{
	struct timespec none = { 0 };

	REFUSED(uname, at);
	REFUSED(arch_prctl, ARCH_GET_FS, at);
	REFUSED(getcpu, at, 0, 0);
	REFUSED(sched_getaffinity, 0, 128, at);
	REFUSED(get_mempolicy, at, 0, 0, 0, 0);
	REFUSED(sysinfo, at);
	REFUSED(clock_gettime, CLOCK_MONOTONIC, at);
	REFUSED(clock_getres, CLOCK_MONOTONIC, at);
	REFUSED(gettimeofday, at, 0);
	REFUSED(time, at);
	REFUSED(getrusage, 0, at);
	REFUSED(rt_sigaction, SIGUSR1, 0, at, 8);
	REFUSED(rt_sigprocmask, SIG_BLOCK, 0, at, 8);
	REFUSED(rt_sigpending, at, 8);
	REFUSED(sigaltstack, 0, at);
	mine[0] = 1UL << (SIGUSR1 - 1);
	raise(SIGUSR1);
	REFUSED(rt_sigtimedwait, mine, at, &none, 8);
}

/* Calls that the LWK carries out in ring 0 and that read from 'at', or change the memory there. */
static void local_reads(uint64_t at)
{
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REFUSED(sched_setaffinity, 0, 128, at);
	REFUSED(set_mempolicy, MPOL_BIND, at, 64);
	REFUSED(mbind, page, PAGE, MPOL_BIND, at, 64, 0);
	REFUSED(rt_sigaction, SIGUSR1, at, 0, 8);
	REFUSED(rt_sigprocmask, SIG_BLOCK, at, 0, 8);
	REFUSED(rt_sigsuspend, at, 8);
	REFUSED(rt_sigtimedwait, at, 0, at, 8);
	REFUSED(rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, at);
	REFUSED(sigaltstack, at, 0);
	REFUSED(execve, at, 0, 0);
	REFUSED(execve, "/bin/true", at, 0);
	REFUSED(execve, "/bin/true", 0, at);
	REFUSED(futex, at, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	REFUSED(futex, mine, FUTEX_WAIT_PRIVATE, mine[0], at, 0, 0);
	munmap(page, PAGE);
}

static void changes(uint64_t at)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	uint64_t page = at & -PAGE, old = syscall(SYS_brk, 0);
	int segment = shmget(IPC_PRIVATE, PAGE, 0600);

	REFUSED(mmap, page, PAGE, prot, flags, -1, 0);
	REFUSED(mmap, page, PAGE, prot, MAP_SHARED | MAP_FIXED, file, 0);
	REFUSED(munmap, page, PAGE);
	REFUSED(mprotect, page, PAGE, prot | PROT_EXEC);
	REFUSED(mremap, page, PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0);
	REFUSED(mremap, mine, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page);
	REFUSED(madvise, page, PAGE, MADV_DONTNEED);
	REFUSED(mbind, page, PAGE, MPOL_DEFAULT, 0, 0, 0);
	REFUSED(arch_prctl, ARCH_SET_FS, at);
	REFUSED(shmat, segment, page, 0);
	shmctl(segment, IPC_RMID, NULL);
	if (syscall(SYS_brk, at) != (long)old)
		refused("brk", 1);
}

/* Lengths that reach from the program's own memory into the kernel's, or around the end of all. */
static void lengths(void)
{
	static const uint64_t sizes[] = { -1UL, -PAGE, 1UL << 63, (1UL << 63) + PAGE,
					  0xffff900000000000 };
	uint64_t start = (uint64_t)mine;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct iovec to = { mine, sizes[i] };

		place = "all";
		refill();
		REFUSED(readv, file, &to, 1);
		REFUSED(writev, ends[1], &to, 1);
		REFUSED(munmap, start, sizes[i] & -PAGE);
		REFUSED(mprotect, start, sizes[i] & -PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		REFUSED(mremap, start, PAGE, sizes[i] & -PAGE, MREMAP_MAYMOVE, 0);
		REFUSED(mmap, start & -PAGE, sizes[i] & -PAGE, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

static void *end_with(void *address)
{
	syscall(SYS_set_tid_address, address);
	return NULL;
}

static void end_thread_with(uint64_t address)
{
	pthread_t thread;

	/*
	 * The LWK writes 0 there when the thread has ended; joining would wait for glibc's own
	 * word.
	 */
	if (pthread_create(&thread, NULL, end_with, (void *)address) == 0)
		usleep(20000);
}

int main(void)
{
	void *none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct {
		const char *name;
		uint64_t address;
		int readable;
	} places[] = {
		{ "Linux's text", 0xffffffff81000000, 0 },
		{ "Linux's memory", 0xffff888000000000, 0 },
		{ "the LWK's image", 0xffffffff80000000, 0 },
		{ "the LWK's memory", 0xffff900000000000, 0 },
		{ "the LWK's memory, further on", 0xffff900010000000, 0 },
		{ "the APIC", 0xfffffffe00000000, 0 },
		{ "the last page", -PAGE, 0 },
		{ "the last bytes", -8UL, 0 },
		{ "no canonical address", 0x8000000000000000, 0 },
		{ "the first address that is not canonical", 0x800000000000, 0 },
		{ "no memory", 0x10000001000, 0 },
		{ "memory without rights", (uint64_t)none, 0 },
		{ "the program's text", (uint64_t)refill, 1 },
		{ "the LWK's clock", LWK_CLOCK_VADDR, 1 },
		{ "the vDSO", LWK_VDSO_VADDR, 1 },
	};
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	memset(mine, 0, sizeof(mine));
	file = memfd_create("data", 0);
	events = epoll_create1(0);
	if (pipe2(ends, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) || file < 0 ||
	    write(file, mine, 64) != 64 || epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event)) {
		perror("foreign-addresses");
		return 2;
	}
	for (size_t i = 0; i < COUNT(places); i++) {
		place = places[i].name;
		delegated_writes(places[i].address);
		local_writes(places[i].address);
		if (places[i].readable)
			continue;
		delegated_reads(places[i].address);
		local_reads(places[i].address);
		if (places[i].address >= 1UL << 47)
			changes(places[i].address);
	}
	lengths();
	for (size_t i = 0; i < COUNT(places); i++)
		end_thread_with(places[i].address);
	printf("%u tries, %u wrong\n", tries, wrong);
	fflush(stdout);
	/* The list of robust futexes is walked when the thread ends. */
	mine[0] = 0xffff900000001000;
	mine[1] = 8;
	mine[2] = 0xffffffff81000000;
	syscall(SYS_set_robust_list, mine, 24);
	syscall(SYS_set_tid_address, 0xffff900000002000);
	return wrong ? 1 : 0;
}
