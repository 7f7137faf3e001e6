// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the time of single system calls, on Linux or on the LWK:
 *   delegation-load CALL TIMES [START]    one of calls[] below; starts at that second
 *   delegation-load futex|eventfd CPU CPU TIMES
 *                                         round trips between processes on two CPUs of Linux
 * Prints one line of JSON: median, 95th percentile and mean in TSC cycles, how many of these a
 * nanosecond has, interrupts by Linux meanwhile, and a histogram with 8 bins for each power of two.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MB (1UL << 20)
#define PIPE_BYTES (64UL << 10)
#define SCRATCH "/dev/shm/delegation-load"
#define BINS (64 * 8)

static int file = -1, ends[2];
static char buffer[MB];

static void die(const char *what)
{
	fprintf(stderr, "delegation-load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(long result, const char *what)
{
	if (result < 0)
		die(what);
}

static void open_zero(void)
{
	check(file = open("/dev/zero", O_RDONLY), "/dev/zero");
}

static void open_null(void)
{
	check(file = open("/dev/null", O_WRONLY), "/dev/null");
}

static void open_scratch(void)
{
	char path[64];

	snprintf(path, sizeof(path), SCRATCH ".%d", getpid());
	check(file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), path);
	check(unlink(path), path);
	memset(buffer, 1, sizeof(buffer));
	if (pwrite(file, buffer, MB, 0) != MB)
		die(path);
}

static void open_pipe(void)
{
	check(pipe(ends), "pipe");
}

static void call_getpid(void)
{
	check(syscall(SYS_getpid), "getpid");
}

static void call_yield(void)
{
	check(syscall(SYS_sched_yield), "sched_yield");
}

/* Reads the clock as programs do, by the vDSO. */
static void read_clock(void)
{
	struct timespec now;

	check(clock_gettime(CLOCK_MONOTONIC, &now), "clock_gettime");
}

static void call_clock(void)
{
	struct timespec now;

	check(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now), "clock_gettime");
}

static void call_read(void)
{
	check(read(file, buffer, 1), "read");
}

static void call_write(void)
{
	check(write(file, buffer, 1), "write");
}

static void call_lseek(void)
{
	check(lseek(file, 0, SEEK_SET), "lseek");
}

static void call_open(void)
{
	int fd = open("/dev/null", O_RDONLY);

	check(fd, "open");
	check(close(fd), "close");
}

static void call_pread(void)
{
	if (pread(file, buffer, MB, 0) != MB)
		die("pread");
}

static void call_pipe(void)
{
	size_t done = 0;

	if (write(ends[1], buffer, PIPE_BYTES) != PIPE_BYTES)
		die("write to the pipe");
	while (done < PIPE_BYTES) {
		ssize_t n = read(ends[0], buffer, PIPE_BYTES - done);

		check(n, "read from the pipe");
		done += n;
	}
}

static const struct call {
	const char *name;
	void (*prepare)(void);
	void (*call)(void);
} calls[] = {
	{ "getpid", NULL, call_getpid },
	{ "sched_yield", NULL, call_yield },
	{ "clock_gettime", NULL, read_clock },
	{ "clock_gettime as a call", NULL, call_clock },
	{ "read", open_zero, call_read },
	{ "write", open_null, call_write },
	{ "lseek", open_scratch, call_lseek },
	{ "openat+close", NULL, call_open },
	{ "pread 1 MB", open_scratch, call_pread },
	{ "pipe 64 KB", open_pipe, call_pipe },
};

static uint64_t cycles(void)
{
	unsigned cpu;

	return __rdtscp(&cpu);
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

static unsigned bin_of(uint64_t value)
{
	unsigned power = value ? 63 - __builtin_clzl(value) : 0;

	return power * 8 + (power >= 3 ? value >> (power - 3) & 7 : 0);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns how often Linux has interrupted this LWK CPU; 0 on Linux. */
static unsigned long doorbells(void)
{
	FILE *facts = fopen("/proc/self/lwk", "r");
	unsigned long count = 0;
	char line[256];

	while (facts && fgets(line, sizeof(line), facts))
		sscanf(line, "doorbells %lu", &count);
	if (facts)
		fclose(facts);
	return count;
}

static double frequency(uint64_t cycles_since, uint64_t ns_since)
{
	return (double)(cycles() - cycles_since) / (nanoseconds() - ns_since);
}

static void report(const char *name, uint64_t *taken, size_t n, unsigned long rung, double ghz)
{
	size_t bins[BINS] = { 0 };
	uint64_t sum = 0;
	const char *comma = "";

	qsort(taken, n, sizeof(*taken), compare);
	for (size_t i = 0; i < n; i++) {
		sum += taken[i];
		bins[bin_of(taken[i])]++;
	}
	printf("{\"call\":\"%s\",\"n\":%zu,\"min\":%lu,\"median\":%lu,\"p95\":%lu,\"mean\":%lu,\"ghz\":%.4f,\"doorbells\":%lu,\"histogram\":{",
	       name, n, taken[0], taken[n / 2], taken[n - 1 - n / 20], sum / n, ghz, rung);
	for (unsigned b = 0; b < BINS; b++) {
		if (!bins[b])
			continue;
		printf("%s\"%lu\":%zu", comma, (1UL << b / 8) + ((1UL << b / 8) >> 3) * (b % 8),
		       bins[b]);
		comma = ",";
	}
	puts("}}");
}

static void wait_until(time_t start)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_REALTIME, &now);
	while (now.tv_sec < start);
}

static void measure(const struct call *call, uint64_t *taken, size_t n, time_t start)
{
	uint64_t start_cycles, start_ns;
	unsigned long rung;

	if (call->prepare)
		call->prepare();
	for (size_t i = 0; i < n / 10 + 1; i++)
		call->call();
	wait_until(start);
	rung = doorbells();
	start_ns = nanoseconds();
	start_cycles = cycles();
	for (size_t i = 0; i < n; i++) {
		uint64_t before = cycles();

		call->call();
		taken[i] = cycles() - before;
	}
	report(call->name, taken, n, doorbells() - rung, frequency(start_cycles, start_ns));
}

/* ---- ping-pong ---- */

static uint32_t *turn; /* 0: ours, 1: the other's */
static int to_other, to_us;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void futex_pass(uint32_t to)
{
	__atomic_store_n(turn, to, __ATOMIC_SEQ_CST);
	check(syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0), "futex");
	while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) == to)
		syscall(SYS_futex, turn, FUTEX_WAIT, to, NULL, NULL, 0);
}

static void eventfd_pass(int to, int from)
{
	uint64_t one = 1;

	if (write(to, &one, sizeof(one)) != sizeof(one) ||
	    read(from, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
}

static void answer(bool futex)
{
	uint64_t one = 1;

	if (futex) {
		while (__atomic_load_n(turn, __ATOMIC_SEQ_CST) == 0)
			syscall(SYS_futex, turn, FUTEX_WAIT, 0, NULL, NULL, 0);
		for (;;)
			futex_pass(0);
	}
	if (read(to_other, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	for (;;)
		eventfd_pass(to_us, to_other);
}

static void ping_pong(const char *how, int cpu, int other, uint64_t *taken, size_t n)
{
	bool futex = strcmp(how, "futex") == 0;
	uint64_t start_cycles, start_ns;
	pid_t child;

	turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (turn == MAP_FAILED)
		die("mmap");
	check(to_other = eventfd(0, 0), "eventfd");
	check(to_us = eventfd(0, 0), "eventfd");
	check(child = fork(), "fork");
	if (child == 0) {
		pin(other);
		answer(futex);
	}
	pin(cpu);
	start_ns = nanoseconds();
	start_cycles = cycles();
	for (size_t i = 0; i < n; i++) {
		uint64_t before = cycles();

		if (futex)
			futex_pass(1);
		else
			eventfd_pass(to_other, to_us);
		taken[i] = cycles() - before;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	report(how, taken, n, 0, frequency(start_cycles, start_ns));
}

int main(int argc, char **argv)
{
	bool pairs = argc == 5;
	size_t n = argc > 2 ? strtoul(argv[pairs ? 4 : 2], NULL, 10) : 0;
	uint64_t *taken = n ? calloc(n, sizeof(*taken)) : NULL;

	if (!taken) {
		fputs("usage: delegation-load CALL TIMES [START] | futex|eventfd CPU CPU TIMES\n",
		      stderr);
		return 2;
	}
	if (pairs) {
		ping_pong(argv[1], atoi(argv[2]), atoi(argv[3]), taken, n);
		return 0;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(argv[1], calls[i].name) != 0)
			continue;
		measure(&calls[i], taken, n, argc > 3 ? atol(argv[3]) : 0);
		return 0;
	}
	fprintf(stderr, "delegation-load: no call '%s'\n", argv[1]);
	return 2;
}
