/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irq-noise-job CPUS ROUNDS WORK: a barrier-synchronous job. One process on each of the CPUs (a
 * comma-separated list); in each round every one does the same work, and then waits for the others.
 * One that is held up holds up all (interrupt noise in HPC clouds: GROMACS beside iperf3).
 *
 * Prints "seconds S", and "cpu N INTERRUPTS" for each CPU of the machine: those of devices that
 * came to it as /proc/interrupts counts them, from a tenth of a second after the job's start on to the
 * end of the last round. Before that an interrupt that was moved away may come once more: Linux
 * completes the move of a vector in the interrupt itself, on the CPU that it leaves.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS 256
#define SETTLING_US 100000

struct counts {
	unsigned cpus[MAX_CPUS];
	int n;
	long long devices[MAX_CPUS]; /* by place */
};

static void read_cpus(const char *line, struct counts *counts)
{
	int length;

	for (counts->n = 0; counts->n < MAX_CPUS &&
			    sscanf(line, " CPU%u%n", &counts->cpus[counts->n], &length) == 1;
	     counts->n++)
		line += length;
}

/* Adds the counts of a line whose interrupt's name is a number. */
static void add_line(const char *line, struct counts *counts)
{
	line += strspn(line, " ");
	if (!isdigit((unsigned char)*line))
		return;
	line = strchr(line, ':');
	for (int i = 0; line && i < counts->n; i++) {
		char *end;

		counts->devices[i] += strtoll(line + !i, &end, 10);
		line = end;
	}
}

static void read_counts(struct counts *counts)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char *line = NULL;
	size_t size = 0;

	memset(counts, 0, sizeof(*counts));
	if (!file)
		err(1, "/proc/interrupts");
	while (getline(&line, &size, file) > 0) {
		if (!counts->n)
			read_cpus(line, counts);
		else
			add_line(line, counts);
	}
	free(line);
	fclose(file);
}

static void work(long amount)
{
	uint64_t x = 1;

	for (long i = 0; i < amount; i++)
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	__asm__ volatile("" : : "r"(x));
}

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(1, "CPU %d", cpu);
}

/* 'ends': where the parent waits, too, before the first round and after the last. */
struct barriers {
	pthread_barrier_t rounds, ends;
};

static void __attribute__((noreturn)) compute(int cpu, long rounds, long amount,
					      struct barriers *barriers)
{
	bind_to(cpu);
	/* All that it needs has been read from the disk before it counts. */
	for (long i = -3; i < rounds; i++) {
		if (i == 0)
			pthread_barrier_wait(&barriers->ends);
		work(amount);
		pthread_barrier_wait(&barriers->rounds);
	}
	pthread_barrier_wait(&barriers->ends);
	_exit(0);
}

static int parse_cpus(char *list, int cpus[MAX_CPUS])
{
	int n = 0;

	for (char *one; n < MAX_CPUS && (one = strsep(&list, ","));)
		cpus[n++] = atoi(one);
	return n;
}

static void prepare(pthread_barrier_t *barrier, unsigned n)
{
	pthread_barrierattr_t attributes;

	if (pthread_barrierattr_init(&attributes) ||
	    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) ||
	    pthread_barrier_init(barrier, &attributes, n))
		errx(1, "no barrier");
}

int main(int argc, char **argv)
{
	struct counts before, after;
	struct timespec start, end;
	struct barriers *barriers;
	int cpus[MAX_CPUS], n, status, failed = 0;
	long rounds, amount;

	if (argc != 4 || (rounds = atol(argv[2])) < 1 || (amount = atol(argv[3])) < 1)
		errx(2, "Usage: irq-noise-job CPUS ROUNDS WORK");
	n = parse_cpus(argv[1], cpus);
	barriers = mmap(NULL, sizeof(*barriers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (barriers == MAP_FAILED)
		err(1, "mmap");
	prepare(&barriers->rounds, n);
	prepare(&barriers->ends, n + 1);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (pid == 0)
			compute(cpus[i], rounds, amount, barriers);
	}
	pthread_barrier_wait(&barriers->ends);
	clock_gettime(CLOCK_MONOTONIC, &start);
	usleep(SETTLING_US);
	read_counts(&before);
	pthread_barrier_wait(&barriers->ends);
	clock_gettime(CLOCK_MONOTONIC, &end);
	read_counts(&after);
	while (wait(&status) > 0)
		failed |= status;
	printf("seconds %.6f\n", (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9);
	for (int i = 0; i < after.n; i++)
		printf("cpu %u %lld\n", after.cpus[i], after.devices[i] - before.devices[i]);
	return failed != 0;
}
