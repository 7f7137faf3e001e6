// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cycles-load: takes paths of this host's own Linux, which counts/load.c takes in the emulated
 * machine, and prints "PATH NANOSECONDS TICKS" for each: what one cost in the quickest 64 of them,
 * without the time that 64 of nothing take. Ticks are of the time stamp counter. "set" is one string
 * instruction that sets a page. The last line is "message": two cache lines go to and fro between
 * CPU 0 and CPU 1, and one passes in that time.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define AT_A_TIME 64
#define ROUNDS 4000
#define PAGE 4096UL
#define BATCH 32
#define MESSAGES (AT_A_TIME * ROUNDS)

static int file;
static char *page;
static char line[64] __attribute__((aligned(64)));

static void call_nothing(void)
{
	__asm__ volatile("" ::: "memory");
}

static void call_getpid(void)
{
	syscall(SYS_getpid);
}

static void call_clock(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void call_read(void)
{
	if (read(file, line, 1) != 1)
		err(1, "read");
}

static void call_batch(void)
{
	static struct iovec vector[BATCH];

	for (int byte = 0; byte < BATCH; byte++)
		vector[byte] = (struct iovec){ line + byte, 1 };
	if (readv(file, vector, BATCH) != BATCH)
		err(1, "readv");
}

static void call_set(void)
{
	static char buffer[PAGE] __attribute__((aligned(PAGE)));
	char *to = buffer;
	size_t bytes = PAGE;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}

/* Every second page has a mapping of its own, so that none is a part of a larger page. */
static void call_fault(void)
{
	*(volatile char *)page = 1;
	page += 2 * PAGE;
}

static void make_pages(char **first, size_t bytes)
{
	*first = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*first == MAP_FAILED)
		err(1, "mmap");
	for (char *at = *first; at < *first + bytes; at += 2 * PAGE) {
		if (mprotect(at, PAGE, PROT_READ | PROT_WRITE) < 0)
			err(1, "mprotect");
	}
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void take(const char *path, void (*call)(void), int rounds)
{
	static double nothing_ns, nothing_ticks;
	double least_ns = 1e18, least_ticks = 1e18;

	for (int round = 0; round < rounds; round++) {
		unsigned long long ns = now_ns(), ticks = __rdtsc();

		for (int i = 0; i < AT_A_TIME; i++)
			call();
		ticks = __rdtsc() - ticks;
		ns = now_ns() - ns;
		least_ns = ns < least_ns ? ns : least_ns;
		least_ticks = ticks < least_ticks ? ticks : least_ticks;
	}
	if (call == call_nothing) {
		nothing_ns = least_ns;
		nothing_ticks = least_ticks;
		return;
	}
	printf("%s %.1f %.1f\n", path, (least_ns - nothing_ns) / AT_A_TIME,
	       (least_ticks - nothing_ticks) / AT_A_TIME);
}

static struct {
	long count __attribute__((aligned(128)));
} lines[2];

static void run_on(int number)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(number, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu) < 0)
		err(1, "CPU %d", number);
}

/* Without PAUSE, which takes longer than a line does on many CPUs. */
static void await(int number, long count)
{
	while (__atomic_load_n(&lines[number].count, __ATOMIC_ACQUIRE) != count)
		;
}

static void *answer(void *unused)
{
	(void)unused;
	run_on(0);
	for (long i = 1; i <= MESSAGES; i++) {
		await(0, i);
		__atomic_store_n(&lines[1].count, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The first message starts when the other thread is there. */
static void take_messages(void)
{
	double least_ns = 1e18, least_ticks = 1e18;
	pthread_t thread;
	long i = 0;

	if (pthread_create(&thread, NULL, answer, NULL) != 0)
		errx(1, "expected a thread, found none");
	while (i < MESSAGES) {
		unsigned long long ns = now_ns(), ticks = __rdtsc();

		for (int n = 0; n < AT_A_TIME; n++) {
			__atomic_store_n(&lines[0].count, ++i, __ATOMIC_RELEASE);
			await(1, i);
		}
		ticks = __rdtsc() - ticks;
		ns = now_ns() - ns;
		least_ns = ns < least_ns ? ns : least_ns;
		least_ticks = ticks < least_ticks ? ticks : least_ticks;
	}
	pthread_join(thread, NULL);
	printf("message %.1f %.1f\n", least_ns / AT_A_TIME / 2, least_ticks / AT_A_TIME / 2);
}

int main(void)
{
	const int faults = ROUNDS / 20;
	size_t bytes = 2 * PAGE * AT_A_TIME * faults;
	char *pages;

	run_on(1);
	file = open("/dev/zero", O_RDONLY);
	if (file < 0)
		err(1, "/dev/zero");
	take("nothing", call_nothing, ROUNDS);
	take("getpid", call_getpid, ROUNDS);
	take("clock", call_clock, ROUNDS);
	take("read", call_read, ROUNDS);
	take("batch", call_batch, ROUNDS);
	take("set", call_set, ROUNDS);
	make_pages(&pages, bytes);
	page = pages;
	take("fault", call_fault, faults);
	munmap(pages, bytes);
	close(file);
	take_messages();
	return 0;
}
