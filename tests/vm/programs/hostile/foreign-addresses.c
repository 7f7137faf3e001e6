/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hands addresses that are not its own to the calls that the LWK carries out itself, in ring 0, and
 * that read or write memory. Prints each call that takes one, and how many were tried. It ends with
 * a kernel's addresses where the kernel writes at a thread's end. foreign-delegated has the other
 * calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/time.h>
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
static int file;

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

/* Calls that the LWK carries out in ring 0 and that write to 'at'. */
static void local_writes(uint64_t at)
{
	struct timespec none = { 0 };
	struct iovec to = { (void *)at, 64 }, from = { mine, 64 };
	void *first = mine;

	REFUSED(arch_prctl, ARCH_GET_FS, at);
	REFUSED(getcpu, at, 0, 0);
	REFUSED(sched_getaffinity, 0, 128, at);
	REFUSED(get_mempolicy, at, 0, 0, 0, 0);
	REFUSED(clock_gettime, CLOCK_MONOTONIC, at);
	REFUSED(clock_getres, CLOCK_MONOTONIC, at);
	REFUSED(getrusage, 0, at);
	REFUSED(times, at);
	REFUSED(getitimer, ITIMER_PROF, at);
	REFUSED(getitimer, ITIMER_REAL, at);
	REFUSED(timer_create, CLOCK_MONOTONIC, 0, at);
	REFUSED(timer_create, CLOCK_PROCESS_CPUTIME_ID, 0, at);
	REFUSED(mincore, mine, PAGE, at);
	REFUSED(move_pages, 0, 1, &first, 0, at, 0);
	REFUSED(process_vm_readv, getpid(), &to, 1, &from, 1, 0);
	REFUSED(process_vm_writev, getpid(), &from, 1, &to, 1, 0);
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
	struct iovec from = { (void *)at, 64 }, to = { mine, 64 };

	REFUSED(sched_setaffinity, 0, 128, at);
	REFUSED(set_mempolicy, MPOL_BIND, at, 64);
	REFUSED(mbind, page, PAGE, MPOL_BIND, at, 64, 0);
	REFUSED(rt_sigaction, SIGUSR1, at, 0, 8);
	REFUSED(rt_sigprocmask, SIG_BLOCK, at, 0, 8);
	REFUSED(rt_sigsuspend, at, 8);
	REFUSED(rt_sigtimedwait, at, 0, at, 8);
	REFUSED(rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGUSR1, at);
	REFUSED(rt_sigqueueinfo, getpid(), SIGUSR1, at);
	REFUSED(setitimer, ITIMER_PROF, at, 0);
	REFUSED(setitimer, ITIMER_REAL, at, 0);
	REFUSED(timer_create, CLOCK_MONOTONIC, at, mine);
	REFUSED(clock_nanosleep, CLOCK_MONOTONIC, 0, at, 0);
	REFUSED(clock_nanosleep, CLOCK_PROCESS_CPUTIME_ID, 0, at, 0);
	REFUSED(move_pages, 0, 1, at, 0, mine, 0);
	REFUSED(process_vm_readv, getpid(), at, 1, &from, 1, 0);
	REFUSED(process_vm_readv, getpid(), &to, 1, at, 1, 0);
	REFUSED(process_vm_readv, getpid(), &to, 1, &from, 1, 0);
	REFUSED(process_vm_writev, getpid(), &from, 1, &to, 1, 0);
	REFUSED(sigaltstack, at, 0);
	REFUSED(execve, at, 0, 0);
	REFUSED(execve, "/bin/true", at, 0);
	REFUSED(execve, "/bin/true", 0, at);
	REFUSED(execveat, AT_FDCWD, at, 0, 0, 0);
	REFUSED(execveat, AT_FDCWD, "/bin/true", at, 0, 0);
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
		place = "all";
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
		{ "the program's text", (uint64_t)refused, 1 },
		{ "the LWK's clock", LWK_CLOCK_VADDR, 1 },
		{ "the vDSO", LWK_VDSO_VADDR, 1 },
	};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	memset(mine, 0, sizeof(mine));
	file = memfd_create("data", 0);
	if (file < 0 || write(file, mine, 64) != 64) {
		perror("foreign-addresses");
		return 2;
	}
	for (size_t i = 0; i < COUNT(places); i++) {
		place = places[i].name;
		local_writes(places[i].address);
		if (places[i].readable)
			continue;
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
