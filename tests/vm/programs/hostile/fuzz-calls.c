/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-calls SEED SECONDS: on the LWK, three threads make random system calls with random arguments
 * at the same time. The program may end in any way; the LWK must go on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "fuzz.h"

#define THREADS 3

static uint64_t seed;

/* Calls that end the program or wait for ever more often than they find something. */
static int is_left_out(long number)
{
	static const long out[] = {
		SYS_exit,  SYS_exit_group,    SYS_pause,	   SYS_kill,	  SYS_tgkill,
		SYS_tkill, SYS_execve,	      SYS_execveat,	   SYS_vfork,	  SYS_fork,
		SYS_clone, __NR_clone3,	      SYS_rt_sigqueueinfo, SYS_setrlimit, SYS_prlimit64,
		SYS_alarm, SYS_rt_sigsuspend, SYS_rt_sigreturn,	   SYS_wait4,	  SYS_waitid
	};

	for (unsigned i = 0; i < sizeof(out) / sizeof(*out); i++)
		if (out[i] == number && fuzz_below(200))
			return 1;
	return 0;
}

/* Calls that the LWK does itself come more often than the others. */
static long choose(void)
{
	static const long own[] = {
		SYS_mmap,
		SYS_munmap,
		SYS_mprotect,
		SYS_mremap,
		SYS_madvise,
		SYS_msync,
		SYS_brk,
		SYS_futex,
		SYS_rt_sigaction,
		SYS_rt_sigprocmask,
		SYS_sigaltstack,
		SYS_rt_sigpending,
		SYS_rt_sigtimedwait,
		SYS_set_mempolicy,
		SYS_get_mempolicy,
		SYS_mbind,
		SYS_sched_yield,
		SYS_nanosleep,
		SYS_clock_gettime,
		SYS_set_robust_list,
		SYS_get_robust_list,
		SYS_set_tid_address,
		SYS_arch_prctl,
		SYS_getcpu,
		SYS_sched_getaffinity,
		SYS_sched_setaffinity,
		SYS_sysinfo,
		SYS_uname,
		SYS_shmat,
		SYS_shmdt,
		SYS_memfd_create,
		SYS_rt_sigreturn,
	};

	return fuzz_below(4) ? own[fuzz_below(sizeof(own) / sizeof(*own))] : (long)fuzz_below(470);
}

static void *call(void *number)
{
	uint64_t args[6];

	fuzz_seed(seed * THREADS + (uintptr_t)number);
	for (;;) {
		long nr = choose();

		if (is_left_out(nr))
			continue;
		for (int i = 0; i < 6; i++)
			args[i] = fuzz_word();
		/* The program's own text and stacks stay, mostly. */
		if (nr == SYS_mmap && args[3] & MAP_FIXED && fuzz_below(100))
			args[0] = (uint64_t)fuzz_arena;
		if (nr == SYS_munmap || nr == SYS_mprotect || nr == SYS_madvise || nr == SYS_mremap)
			args[0] = fuzz_below(50) ? (uint64_t)fuzz_arena + fuzz_below(32) * 4096
						 : args[0];
		syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct timespec tick = { 0, 50000000 };
	pthread_t threads[THREADS];

	if (argc != 3 || fuzz_make_arena())
		return 2;
	seed = strtoul(argv[1], NULL, 0);
	signal(SIGUSR1, on_signal);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call, (void *)i))
			return 2;
	/* Calls that wait are interrupted. */
	for (unsigned ticks = strtoul(argv[2], NULL, 0) * 20; ticks; ticks--) {
		nanosleep(&tick, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
	}
	_exit(0);
}
