/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the LWK's clocks as programs read them by the vDSO and by the system call with the
 * clocks of Linux. Needs two CPUs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* Linux tells the LWK once in a second how its clock goes. */
#define SECONDS 3
/*
 * Allowed between the LWK's clock and Linux's; far more than there is on a machine that nobody
 * interrupts.
 */
#define APART_NS 20000000
/* /proc/uptime's own step. */
#define STEP_NS 10000000

static const clockid_t clocks[] = { CLOCK_REALTIME,	    CLOCK_MONOTONIC, CLOCK_REALTIME_COARSE,
				    CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,  CLOCK_TAI };

static int64_t to_ns(const struct timespec *time)
{
	return time->tv_sec * 1000000000LL + time->tv_nsec;
}

static int64_t read_clock(clockid_t id)
{
	struct timespec time = { 0, 0 };

	clock_gettime(id, &time);
	return to_ns(&time);
}

static int64_t call_clock(clockid_t id)
{
	struct timespec time = { 0, 0 };

	syscall(SYS_clock_gettime, id, &time);
	return to_ns(&time);
}

static int both_ways_agree(void)
{
	struct timespec when;
	struct timeval day;
	unsigned int cpu, node, same_cpu, same_node;

	CHECK(getauxval(AT_SYSINFO_EHDR) != 0);
	for (unsigned int i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		int64_t before = call_clock(clocks[i]), now = read_clock(clocks[i]),
			after = call_clock(clocks[i]);

		CHECK(before > 0 && before <= now && now <= after);
		CHECK(clock_getres(clocks[i], &when) == 0 && to_ns(&when) == 1);
	}
	CHECK(read_clock(CLOCK_PROCESS_CPUTIME_ID) > 0 && read_clock(CLOCK_THREAD_CPUTIME_ID) > 0);
	CHECK(clock_gettime(10, &when) == -1 && errno == EINVAL);

	int64_t before = read_clock(CLOCK_REALTIME) / 1000;
	CHECK(gettimeofday(&day, NULL) == 0);
	int64_t between = day.tv_sec * 1000000LL + day.tv_usec, seconds = time(NULL);
	CHECK(before <= between && between <= read_clock(CLOCK_REALTIME) / 1000);
	CHECK(before / 1000000 <= seconds && seconds <= read_clock(CLOCK_REALTIME) / 1000000000);

	CHECK(syscall(SYS_getcpu, &cpu, &node, NULL) == 0);
	CHECK(getcpu(&same_cpu, &same_node) == 0 && same_cpu == cpu && same_node == node);
	return 0;
}

static _Atomic int64_t latest;
static atomic_bool went_back;

/* One CPU never sees a time that is before what the other one has seen before. */
static void *look(void *until)
{
	int64_t seen, now;

	do {
		seen = latest;
		now = read_clock(CLOCK_MONOTONIC);
		if (now < seen)
			went_back = true;
		while (seen < now && !atomic_compare_exchange_weak(&latest, &seen, now))
			;
	} while (now < *(const int64_t *)until);
	return NULL;
}

static int never_goes_back(void)
{
	int64_t until = read_clock(CLOCK_MONOTONIC) + SECONDS * 1000000000LL;
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, look, &until) == 0);
	look(&until);
	CHECK(pthread_join(thread, NULL) == 0 && !went_back);
	return 0;
}

static int is_the_machines(void)
{
	int64_t before, after, linux_ns;
	double seconds;
	FILE *file;

	file = fopen("/proc/uptime", "r");
	CHECK(file);
	setbuf(file, NULL);
	before = read_clock(CLOCK_BOOTTIME);
	CHECK(fscanf(file, "%lf", &seconds) == 1);
	after = read_clock(CLOCK_BOOTTIME);
	fclose(file);
	linux_ns = seconds * 1e9;
	CHECK(linux_ns > before - STEP_NS - APART_NS && linux_ns < after + APART_NS);
	return 0;
}

int main(void)
{
	return both_ways_agree() || is_the_machines() || never_goes_back() || is_the_machines();
}
