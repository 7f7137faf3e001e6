/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwk-probe SECONDS [CPU]: the program of lwkctl bench, which runs on the LWK and on a CPU of
 * Linux. Prints a line "NAME NANOSECONDS" for each operation, the median of some batches; then the
 * share of SECONDS that disturbances took, and the longest one, by fixed work quanta (Sottile and
 * Minnich, Analysis of microbenchmarks for performance tuning of clusters, 2004).
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 9
#define BATCH_NS 10000000
#define QUANTUM_NS 100000
#define MOST_PAGES 16384
#define PAGE 4096

static const char *own_path;
static int own_file;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* ---- operations: each is done n times ---- */

static void do_getpid(long n)
{
	while (n--)
		syscall(SYS_getpid);
}

static void do_clock(long n)
{
	struct timespec now;

	while (n--)
		clock_gettime(CLOCK_REALTIME, &now);
}

static void do_read(long n)
{
	char byte;

	while (n--)
		if (pread(own_file, &byte, 1, 0) != 1)
			err(1, "expected a byte of %s, found none", own_path);
}

static void do_open(long n)
{
	while (n--) {
		int fd = open(own_path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			err(1, "%s", own_path);
		close(fd);
	}
}

static void do_touch(long n)
{
	char *memory =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "expected %ld MB of memory, found less", n * PAGE >> 20);
	for (long i = 0; i < n; i++)
		*(volatile char *)(memory + i * PAGE) = 1;
	munmap(memory, n * PAGE);
}

static void do_fork(long n)
{
	while (n--) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			err(1, "expected to fork, found no way");
	}
}

static const struct {
	const char *name;
	void (*run)(long n);
	long most; /* in a batch; 0: no bound */
} operations[] = {
	{ "getpid", do_getpid, 0 }, { "clock", do_clock, 0 },	       { "read", do_read, 0 },
	{ "open", do_open, 0 },	    { "touch", do_touch, MOST_PAGES }, { "fork", do_fork, 0 },
};

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double time_batch(void (*run)(long n), long n)
{
	int64_t start = now_ns();

	run(n);
	return now_ns() - start;
}

static double measure(void (*run)(long n), long most)
{
	double batch[BATCHES];
	long n = 1;

	while (time_batch(run, n) < BATCH_NS && (!most || n < most))
		n *= 2;
	for (int i = 0; i < BATCHES; i++)
		batch[i] = time_batch(run, n) / n;
	qsort(batch, BATCHES, sizeof(*batch), compare);
	return batch[BATCHES / 2];
}

/* ---- disturbances ---- */

static int64_t time_work(long work)
{
	int64_t start = now_ns();
	volatile double x = 1;

	for (long i = 0; i < work; i++)
		x = x * 1.0000001;
	return now_ns() - start;
}

static void measure_noise(double seconds)
{
	int64_t least = INT64_MAX, longest = 0, sum = 0, n = 0, end;
	long work = 1;

	while (time_work(work) < QUANTUM_NS)
		work *= 2;
	end = now_ns() + (int64_t)(seconds * 1e9);
	do {
		int64_t took = time_work(work);

		least = took < least ? took : least;
		longest = took > longest ? took : longest;
		sum += took;
		n++;
	} while (now_ns() < end);
	printf("lost %.9f\n", 1 - (double)n * least / sum);
	printf("longest %lld\n", (long long)(longest - least));
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	cpu_set_t cpus;

	if (argc < 2 || argc > 3 || seconds <= 0)
		errx(2, "usage: lwk-probe SECONDS [CPU]");
	if (argc == 3) {
		CPU_ZERO(&cpus);
		CPU_SET(atoi(argv[2]), &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			err(1, "CPU %s", argv[2]);
	}
	own_path = argv[0];
	own_file = open(own_path, O_RDONLY | O_CLOEXEC);
	if (own_file < 0)
		err(1, "%s", own_path);
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		printf("%s %.1f\n", operations[i].name,
		       measure(operations[i].run, operations[i].most));
	measure_noise(seconds);
	return 0;
}
