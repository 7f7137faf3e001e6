/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early-threads DEVICE [TEST]: a proxy that gets slots for threads while its process has no memory: when the
 * LWK had no room for its page tables, while it lends its memory to a child that never comes, and before it
 * takes the memory of a process that forks. No such slot reaches any memory until a thread runs in it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "proxies/own-proxy.h"

/* Behind the program there are its numbers and two stacks. */
#define NUMBERS "0x100001000"
#define MAIN_STACK (START + (12UL << 10))
#define THREAD_STACK "0x100004000"
#define RIGHT 7

/* The flags of a POSIX thread without what libraries want: CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD. */
#define CLONE_FLAGS "0x10f00"

/*
 * The program calls vfork(2), which its proxy refuses, runs a thread to its end, calls fork(2), and the
 * child runs a thread, too. Each process ends with RIGHT.
 */
extern const char program[], program_end[];
__asm__(".pushsection .rodata\n"
	"program:\n"
	"	movabs $" NUMBERS ", %rbx\n"
	"	mov $58, %eax\n" /* vfork */
	"	syscall\n"
	"	cmp $-11, %rax\n" /* -EAGAIN */
	"	jne 3f\n"
	"	call 4f\n"
	"	mov $57, %eax\n" /* fork */
	"	syscall\n"
	"	test %rax, %rax\n"
	"	js 3f\n"
	"	jnz 1f\n"
	"	call 4f\n"
	"1:	mov $7, %edi\n"	  /* RIGHT */
	"2:	mov $231, %eax\n" /* exit_group */
	"	syscall\n"
	"3:	mov $1, %edi\n"
	"	jmp 2b\n"
	/* Waits until the thread has run. */
	"4:	mov (%rbx), %r12\n"
	"	mov $" CLONE_FLAGS ", %edi\n"
	"	movabs $" THREAD_STACK ", %rsi\n"
	"	mov $56, %eax\n" /* clone */
	"	syscall\n"
	"	test %rax, %rax\n"
	"	js 3b\n"
	"	jz 6f\n"
	"5:	pause\n"
	"	cmp %r12, (%rbx)\n"
	"	je 5b\n"
	"	ret\n"
	"6:	lock incq (%rbx)\n"
	"	xor %edi, %edi\n"
	"	mov $60, %eax\n" /* exit */
	"	syscall\n"
	"program_end:\n"
	".popsection\n");

/* A touch of memory that the process has not. The module waits ten seconds for an answer. */
static int is_refused(void)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK(!readable(START));
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK(after.tv_sec - before.tv_sec < 9);
	return 0;
}

static int become_thread(void)
{
	struct lwk_thread_create create = { 0 };

	CHECK(ioctl(device, LWK_THREAD_CREATE, &create) == 0);
	/* The new slot is asked for the page. */
	return is_refused();
}

static void *run_thread(void *result)
{
	*(int *)result = become_thread();
	return NULL;
}

/* Gets a slot for a thread of a process that has no memory. */
static int add_thread(void)
{
	pthread_t thread;
	int result = 1;

	CHECK(pthread_create(&thread, NULL, run_thread, &result) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(result == 0);
	return is_refused();
}

/* ---- memory that is lent, and memory of an offer ---- */

static uint64_t offer[2];

static int take_offer(void)
{
	CHECK(begin_anywhere() == 0);
	CHECK(add_thread() == 0);
	CHECK(ask(LWK_CALL_COPY, offer[0], offer[1]) == 0);
	CHECK(ends_with(RIGHT << 8) == 0);
	return 0;
}

static int run_program(void)
{
	struct lwk_packet fork;
	pid_t child;

	CHECK(ask(LWK_CALL_MAP, START, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	memcpy((void *)START, program, program_end - program);
	CHECK(ask(LWK_CALL_START, START, MAIN_STACK) == 0);
	CHECK(next_request(&fork, LWK_CALL_FORK) == 0 && fork.args[2] == 1);
	/* Now the process has lent its memory. */
	CHECK(add_thread() == 0);
	reply(fork.id, -EAGAIN);
	CHECK(next_request(&fork, LWK_CALL_FORK) == 0 && fork.args[2] == 0);
	memcpy(offer, fork.args, sizeof(offer));
	CHECK(in_child(&child, take_offer) == 0);
	reply(fork.id, child);
	CHECK(ends_with(RIGHT << 8) == 0);
	return 0;
}

static int without_memory(void)
{
	CHECK(begin_anywhere() == 0);
	CHECK(run_program() == 0);
	end_all();
	return 0;
}

/* ---- no room for page tables ---- */

/* A page in each 2 MB from STEPS on needs one table of its own, after the first. */
#define STEPS (1UL << 39)
#define N_STEPS 24
#define STEP (2UL << 20)

/* Children of fork(2) do not have it. */
static const volatile struct lwk_status *lwk;
/* For how many tables the LWK had room when the child began. */
static uint64_t left;

/* Returns for how many tables the LWK has room. */
static uint64_t room(void)
{
	return (lwk->kernel_bytes - lwk->kernel_used - lwk->cpu[0].memory.kernel_bytes) / PAGE;
}

/* Returns places that need three tables each, and then two. */
static uint64_t place(uint64_t i)
{
	return i < 240 ? (i + 1) << 39 : ((i - 240) / 511 + 1) << 39 | ((i - 240) % 511 + 1) << 30;
}

static int take_most_room(void)
{
	CHECK(mmap((void *)STEPS, N_STEPS * STEP, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   device, LWK_MMAP_WINDOW + STEPS - LWK_USER_START) == (void *)STEPS);
	for (uint64_t i = 1; i < N_STEPS; i++)
		CHECK(ask(LWK_CALL_MAP, STEPS + i * STEP, PAGE, PROT_READ) == 0);
	for (uint64_t i = 0; room() > N_STEPS - 2; i++)
		CHECK(ask(LWK_CALL_MAP, place(i), PAGE, PROT_READ, true) == 0);
	return 0;
}

/* Begins a process, which the LWK ends at once if there is no room for it. */
static int begin_in_room(void)
{
	struct lwk_packet core;

	CHECK(begin_anywhere() == 0);
	CHECK(add_thread() == 0);
	if (left == 0) {
		CHECK(next_request(&core, LWK_CALL_CORE) == 0 && core.args[0] == SIGKILL);
		reply(core.id, 0);
		CHECK(ends_with(SIGKILL) == 0);
	}
	return 0;
}

static int with_less_and_less_room(void)
{
	for (uint64_t i = 1; i < N_STEPS; i++) {
		pid_t child;

		left = room();
		CHECK(in_child(&child, begin_in_room) == 0);
		CHECK(room() == left);
		if (!left)
			return 0;
		CHECK(readable(STEPS + i * STEP) == 1 && room() == left - 1);
	}
	return 1;
}

static int without_room(void)
{
	const size_t size = (offsetof(struct lwk_status, cpu[1]) + PAGE - 1) & -PAGE;

	CHECK(begin_anywhere() == 0);
	lwk = mmap(NULL, size, PROT_READ, MAP_SHARED, device, LWK_MMAP_STATUS);
	CHECK(lwk != MAP_FAILED);
	CHECK(take_most_room() == 0);
	CHECK(with_less_and_less_room() == 0);
	munmap((void *)lwk, size);
	munmap((void *)STEPS, N_STEPS * STEP);
	end_all();
	return 0;
}

static const struct test tests[] = {
	{ "without memory", without_memory },
	{ "without room", without_room },
};

int main(int argc, char **argv)
{
	CHECK(argc == 2 || argc == 3);
	path = argv[1];
	handle_alarms();
	return RUN_TESTS(tests, argv[2]);
}
