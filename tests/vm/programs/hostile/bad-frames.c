/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bad-frames [N]: a program passes wrong arguments to calls, and handlers return to frames that they
 * have damaged, N times at random, each time in a new process. The only result must be a signal or an
 * error.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "abi/shared/layout.h"

#include "check.h"

#define XSAVE_LEGACY 512
#define MXCSR_OFFSET 24
/* The first address that no x86-64 CPU with four levels of page tables can have. */
#define NOT_CANONICAL 0x800000000000
#define KERNEL 0xffff900000000000

enum spoilt {
	RIP_NOT_CANONICAL,
	RIP_OF_KERNEL,
	RIP_BEHIND_VDSO,
	RSP_NOT_CANONICAL,
	RSP_OF_KERNEL,
	FLAGS,
	SELECTORS,
	SSE_CONTROL,
	STATE_FEATURES,
	STATE_COMPACTED,
	STATE_RESERVED,
	STATE_NOT_ALIGNED,
	STATE_OF_KERNEL,
	STATE_AT_RANDOM,
	FRAME_AT_RANDOM,
	SPOILT
};

static volatile enum spoilt what;

static void scribble(void *where, size_t size)
{
	uint8_t *byte = where;

	for (size_t n = 1 + random() % 16; n; n--)
		byte[random() % size] = random();
}

static void spoil(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *r = uc->uc_mcontext.gregs;
	uint8_t *state = (uint8_t *)uc->uc_mcontext.fpregs;
	uint64_t *header = (uint64_t *)(state + XSAVE_LEGACY);

	(void)signal;
	(void)info;
	switch (what) {
	case RIP_NOT_CANONICAL:
		r[REG_RIP] = NOT_CANONICAL;
		break;
	case RIP_OF_KERNEL:
		r[REG_RIP] = KERNEL;
		break;
	case RIP_BEHIND_VDSO:
		r[REG_RIP] = LWK_VDSO_VADDR + LWK_VDSO_BYTES;
		break;
	case RSP_NOT_CANONICAL:
		r[REG_RSP] = NOT_CANONICAL;
		break;
	case RSP_OF_KERNEL:
		r[REG_RSP] = KERNEL;
		break;
	case FLAGS:
		r[REG_EFL] = -1;
		break;
	case SELECTORS:
		r[REG_CSGSFS] = -1;
		break;
	case SSE_CONTROL:
		*(uint32_t *)(state + MXCSR_OFFSET) = -1;
		break;
	case STATE_FEATURES:
		header[0] = -1;
		break;
	case STATE_COMPACTED:
		header[1] = 1UL << 62;
		break;
	case STATE_RESERVED:
		memset(header + 2, 0xff, 48);
		break;
	case STATE_NOT_ALIGNED:
		uc->uc_mcontext.fpregs = (fpregset_t)(state + 8);
		break;
	case STATE_OF_KERNEL:
		uc->uc_mcontext.fpregs = (fpregset_t)KERNEL;
		break;
	case STATE_AT_RANDOM:
		scribble(state, XSAVE_LEGACY + 64);
		break;
	default:
		scribble(uc, offsetof(ucontext_t, uc_sigmask) + 8);
	}
}

static int child(enum spoilt which, unsigned seed)
{
	struct sigaction action = { .sa_sigaction = spoil, .sa_flags = SA_SIGINFO };
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	/* A program that goes on at a made-up address may go on for ever. */
	alarm(10);
	srandom(seed);
	what = which;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return 0;
}

static int spoilt_frame(enum spoilt which, unsigned seed)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child(which, seed));
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	/* A number of bits of the frame make no difference. */
	if (which < FLAGS || which == STATE_FEATURES || which == STATE_COMPACTED ||
	    which == STATE_RESERVED || which == STATE_NOT_ALIGNED || which == STATE_OF_KERNEL)
		CHECK(WIFSIGNALED(status));
	printf("%d %u: status %x\n", which, seed, status);
	return 0;
}

/* Bases and addresses that an instruction of the kernel would fault with. */
static int bad_arguments(void)
{
	static const uint64_t addresses[] = { NOT_CANONICAL,  KERNEL, LWK_USER_END,
					      LWK_VDSO_VADDR, -8UL,   -1UL };
	const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				    CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
	static char stack[4096];

	CHECK(syscall(SYS_arch_prctl, ARCH_GET_CPUID, 0) == 1);
	CHECK(syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) == -1 && errno == ENODEV);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		uint64_t at = addresses[i];

		CHECK(syscall(SYS_arch_prctl, ARCH_SET_FS, at) == -1 && errno == EPERM);
		CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, at) == -1 && errno == EPERM);
		CHECK(syscall(SYS_arch_prctl, ARCH_GET_FS, at) == -1 && errno == EFAULT);
		CHECK(syscall(SYS_clone, flags, stack + sizeof(stack), 0, 0, at) == -1);
		CHECK(syscall(SYS_clone, flags & ~CLONE_SETTLS, at, 0, 0, 0) == -1);
		CHECK(syscall(SYS_clone, SIGCHLD, at, 0, 0, 0) == -1);
		CHECK(syscall(SYS_rt_sigaction, SIGUSR2, at, 0, 8) == -1 && errno == EFAULT);
		CHECK(syscall(SYS_futex, at & ~3UL, 0, 0, 0, 0, 0) == -1);
		CHECK(syscall(SYS_sigaltstack, at, 0) == -1 && errno == EFAULT);
		syscall(SYS_set_robust_list, at, 24);
		syscall(SYS_set_tid_address, at);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? atoi(argv[1]) : 20;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (bad_arguments())
		return 1;
	for (int which = 0; which < STATE_AT_RANDOM; which++)
		if (spoilt_frame(which, 0))
			return 1;
	for (unsigned seed = 1; seed <= n; seed++)
		if (spoilt_frame(STATE_AT_RANDOM, seed) || spoilt_frame(FRAME_AT_RANDOM, seed))
			return 1;
	puts("all of it is right");
	return 0;
}
