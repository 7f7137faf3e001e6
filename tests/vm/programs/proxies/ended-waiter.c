/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ended-waiter DEVICE: a proxy whose process ends while a thread of it waits for a futex and, woken by a
 * signal that it blocks, asks for the signal to be passed on to the other thread, without an answer.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>

#include "proxies/own-proxy.h"

/* A program of the LWK, and behind it a word and two stacks. */
#define START 0x100000000UL
#define SIZE (16UL << 10)
#define WORD "0x100001000"
#define MAIN_STACK (START + (12UL << 10))
#define THREAD_STACK "0x100004000"
/* CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD */
#define CLONE_FLAGS "0x10f00"

/* The program's first thread computes; the other one blocks all signals, and waits while the word is 0. */
extern const char program[], program_end[];
__asm__(".pushsection .rodata\n"
	"program:\n"
	"	mov $" CLONE_FLAGS ", %edi\n"
	"	movabs $" THREAD_STACK ", %rsi\n"
	"	mov $56, %eax\n" /* clone */
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jz 2f\n"
	"1:	pause\n"
	"	jmp 1b\n"
	"2:	pushq $-1\n"
	"	mov $2, %edi\n" /* SIG_SETMASK */
	"	mov %rsp, %rsi\n"
	"	xor %edx, %edx\n"
	"	mov $8, %r10d\n"
	"	mov $14, %eax\n" /* rt_sigprocmask */
	"	syscall\n"
	"3:	movabs $" WORD ", %rdi\n"
	"	mov $128, %esi\n" /* FUTEX_WAIT_PRIVATE */
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	mov $202, %eax\n" /* futex */
	"	syscall\n"
	"	jmp 3b\n"
	"program_end:\n"
	".popsection\n");

/* The slot and the channel of the other thread, whose proxy is 'ready' then. */
static unsigned slot;
static struct lwk_channel *its;
static sem_t ready;

static int become_thread(void)
{
	struct lwk_thread_create create = { 0 };

	CHECK(ioctl(device, LWK_THREAD_CREATE, &create) == 0);
	slot = create.index;
	its = mmap(NULL, sizeof(*its), PROT_READ | PROT_WRITE, MAP_SHARED, device,
		   LWK_MMAP_CHANNEL);
	CHECK(its != MAP_FAILED);
	sem_post(&ready);
	return 0;
}

static int await_futex(void)
{
	struct lwk_instance_status state;
	const volatile struct lwk_status *status;

	CHECK(ioctl(device, LWK_GET_STATUS, &state) == 0);
	status = mmap(NULL, state.status_bytes, PROT_READ, MAP_SHARED, device, LWK_MMAP_STATUS);
	CHECK(status != MAP_FAILED);
	while (status->cpu[slot].times.state != LWK_CPU_WAITING)
		usleep(1000);
	return 0;
}

/* Wakes the thread by a signal for any thread, and returns when it asks to have it passed on. */
static int disturb(void)
{
	struct lwk_packet packet;

	its->signals.slot[0] = (struct lwk_signal){ .signal = SIGUSR1 };
	__atomic_store_n(&its->signals.head, 1, __ATOMIC_RELEASE);
	CHECK(ioctl(device, LWK_DOORBELL) == 0);
	/* Notices may come before. */
	do {
		while (!ring_read(&its->to_linux, &packet))
			usleep(1000);
	} while (packet.nr != LWK_CALL_SIGNAL);
	return 0;
}

static void *serve_thread(void *wrong)
{
	*(int *)wrong = become_thread() || await_futex() || disturb();
	sem_post(&ready);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int wrong = 1;

	CHECK(argc == 2);
	handle_alarms();
	sem_init(&ready, 0, 0);
	CHECK(begin(argv[1]) == 0);
	CHECK(pthread_create(&thread, NULL, serve_thread, &wrong) == 0);
	CHECK(mmap((void *)START, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   device, LWK_MMAP_WINDOW + START - LWK_USER_START) == (void *)START);
	CHECK(ask(LWK_CALL_MAP, START, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	memcpy((void *)START, program, program_end - program);
	CHECK(sem_wait(&ready) == 0);
	CHECK(ask(LWK_CALL_START, START, MAIN_STACK) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(wrong == 0);
	CHECK(ioctl(device, LWK_PROC_END) >= 0);
	puts("ended");
	return 0;
}
