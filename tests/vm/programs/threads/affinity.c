/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * affinity: checks sched_setaffinity(2) and similar calls on at least two CPUs. Linux promises the same.
 * affinity list: prints the CPUs that it may use, as sched_getaffinity(2) and /proc/self/status
 * have them, and the one that it is on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "lwk-fact.h"

static cpu_set_t all;
static int cpus[CPU_SETSIZE], n_cpus;

static int on_cpu(void)
{
	unsigned cpu = -1, called = -2;

	cpu = sched_getcpu();
	syscall(SYS_getcpu, &called, NULL, NULL);
	return cpu == called ? (int)cpu : -1;
}

static cpu_set_t just(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return set;
}

/* Prints the line of /proc/self/status about CPUs into 'text'. */
static int read_list(char text[256])
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[512];

	*text = 0;
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "Cpus_allowed_list: %255s", text);
	if (file)
		fclose(file);
	return *text ? 0 : -1;
}

/* True when /proc/self/lwk says that the thread is on this CPU, or is missing, as on Linux. */
static bool lwk_agrees(int cpu)
{
	long long index = lwk_fact("cpu_index");

	return access("/proc/self/lwk", F_OK) != 0 ||
	       (lwk_fact("cpu") == cpu && index >= 0 && index < lwk_fact("cpus"));
}

/* ---- a thread for itself ---- */

static int go(int cpu)
{
	cpu_set_t set = just(cpu), found;
	char list[256], wanted[16];

	CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
	CHECK(on_cpu() == cpu && lwk_agrees(cpu));
	CHECK(sched_getaffinity(0, sizeof(found), &found) == 0 && CPU_EQUAL(&set, &found));
	snprintf(wanted, sizeof(wanted), "%d", cpu);
	CHECK(syscall(SYS_gettid) != getpid() ||
	      (read_list(list) == 0 && strcmp(list, wanted) == 0));
	return 0;
}

static int itself(void)
{
	cpu_set_t none, found, most = all;

	for (int round = 0; round < 20; round++)
		for (int i = 0; i < n_cpus; i++)
			CHECK(!go(cpus[i]));
	/* A mask that has the thread's present CPU does not move the thread. */
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0 && on_cpu() == cpus[n_cpus - 1]);
	CPU_CLR(cpus[n_cpus - 1], &most);
	CHECK(sched_setaffinity(0, sizeof(most), &most) == 0 && on_cpu() != cpus[n_cpus - 1]);
	CHECK(sched_getaffinity(0, sizeof(found), &found) == 0 && CPU_EQUAL(&most, &found));
	CPU_SET(CPU_SETSIZE - 1, &most);
	CHECK(sched_setaffinity(0, sizeof(most), &most) == 0);
	CPU_ZERO(&none);
	CHECK(sched_setaffinity(0, sizeof(none), &none) == -1 && errno == EINVAL);
	none = just(CPU_SETSIZE - 1);
	CHECK(sched_setaffinity(0, sizeof(none), &none) == -1 && errno == EINVAL);
	CHECK(sched_setaffinity(0, sizeof(none), (cpu_set_t *)1) == -1 && errno == EFAULT);
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
	return 0;
}

/* ---- other threads and processes ---- */

static atomic_int stop, seen, tid;
static sem_t wake;

static void *spin(void *argument)
{
	tid = syscall(SYS_gettid);
	while (!stop)
		seen = sched_getcpu();
	return argument;
}

static void *wait_often(void *argument)
{
	tid = syscall(SYS_gettid);
	while (!stop) {
		sem_wait(&wake);
		seen = on_cpu();
	}
	return argument;
}

static int move_other(void *(*function)(void *))
{
	pthread_t thread;
	cpu_set_t set, found;

	stop = tid = 0;
	CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
	while (!tid)
		sched_yield();
	for (int i = 0; i < 4 * n_cpus; i++) {
		set = just(cpus[i % n_cpus]);
		CHECK(sched_setaffinity(tid, sizeof(set), &set) == 0);
		CHECK(pthread_getaffinity_np(thread, sizeof(found), &found) == 0);
		CHECK(CPU_EQUAL(&set, &found));
		seen = -1;
		while (seen != cpus[i % n_cpus])
			sem_post(&wake);
	}
	stop = 1;
	sem_post(&wake);
	CHECK(pthread_join(thread, NULL) == 0);
	return 0;
}

static void *tell_cpu(void *argument)
{
	cpu_set_t found;

	(void)argument;
	if (sched_getaffinity(0, sizeof(found), &found) || CPU_COUNT(&found) != 1)
		return (void *)-1;
	return (void *)(intptr_t)on_cpu();
}

/* A new thread has its maker's CPUs, or those of its attributes. */
static int new_threads(void)
{
	cpu_set_t set = just(cpus[1]);
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	CHECK(!go(cpus[0]));
	CHECK(pthread_create(&thread, NULL, tell_cpu, NULL) == 0);
	CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == cpus[0]);
	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setaffinity_np(&attributes, sizeof(set), &set) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(pthread_create(&thread, &attributes, tell_cpu, NULL) == 0);
		CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == cpus[1]);
	}
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
	return 0;
}

static int threads(void)
{
	CHECK(sem_init(&wake, 0, 0) == 0);
	return move_other(spin) || move_other(wait_often) || new_threads();
}

static int children(void)
{
	char list[128];
	int status;
	pid_t child;
	cpu_set_t set = just(cpus[1]), found;
	FILE *pipe;

	CHECK(!go(cpus[1]));
	child = fork();
	if (child == 0)
		_exit(on_cpu() != cpus[1]);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	/* A program that a child starts keeps the CPUs. */
	pipe = popen("sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status", "r");
	CHECK(pipe && fgets(list, sizeof(list), pipe) && pclose(pipe) == 0);
	CHECK(atoi(list) == cpus[1] && !strchr(list, '-') && !strchr(list, ','));
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);

	child = fork();
	if (child == 0)
		for (;;)
			pause();
	CHECK(sched_setaffinity(child, sizeof(set), &set) == 0);
	CHECK(sched_getaffinity(child, sizeof(found), &found) == 0 && CPU_EQUAL(&set, &found));
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
	CHECK(sched_setaffinity(child, sizeof(set), &set) == -1 && errno == ESRCH);
	CHECK(sched_getaffinity(child, sizeof(found), &found) == -1 && errno == ESRCH);
	if (geteuid())
		CHECK(sched_setaffinity(1, sizeof(set), &set) == -1 && errno == EPERM);
	return 0;
}

/* ---- a thread's state moves with it ---- */

static void *wander(void *argument)
{
	intptr_t own = (intptr_t)argument;
	double sum = own;
	volatile double step = 0.5;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	for (int i = 0; i < 200; i++) {
		cpu_set_t set = just(cpus[(own + i) % n_cpus]);

		sum += step;
		if (sched_setaffinity(0, sizeof(set), &set) ||
		    on_cpu() != cpus[(own + i) % n_cpus] || sum != own + 0.5 * (i + 1))
			return NULL;
		page[0] = i;
		if (i % 10 == 0 && (mprotect(page, 4096, PROT_READ) ||
				    mprotect(page, 4096, PROT_READ | PROT_WRITE)))
			return NULL;
		/* a delegated call */
		if (i % 7 == 0 && getppid() <= 0)
			return NULL;
	}
	munmap(page, 4096);
	return argument;
}

static int wanderers(void)
{
	pthread_t all_of_them[8];
	void *result;

	for (intptr_t i = 0; i < 8; i++)
		CHECK(pthread_create(&all_of_them[i], NULL, wander, (void *)(i + 1)) == 0);
	for (intptr_t i = 0; i < 8; i++)
		CHECK(pthread_join(all_of_them[i], &result) == 0 && result == (void *)(i + 1));
	return 0;
}

/* ---- classes ---- */

static int classes(void)
{
	struct sched_param none = { 0 }, some = { .sched_priority = 5 };

	CHECK(sched_getscheduler(0) == SCHED_OTHER);
	CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0 &&
	      sched_getscheduler(0) == SCHED_BATCH);
	CHECK(sched_setparam(0, &none) == 0 && sched_getparam(0, &some) == 0);
	CHECK(some.sched_priority == 0);
	some.sched_priority = 5;
	CHECK(sched_setparam(0, &some) == -1 && errno == EINVAL);
	CHECK(sched_setscheduler(0, SCHED_OTHER, &some) == -1 && errno == EINVAL);
	CHECK(sched_setscheduler(0, SCHED_FIFO, &none) == -1 && errno == EINVAL);
	CHECK(sched_setscheduler(0, 77, &none) == -1 && errno == EINVAL);
	CHECK(geteuid() == 0 || (sched_setscheduler(0, SCHED_FIFO, &some) == -1 && errno == EPERM));
	CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
	CHECK(sched_getscheduler(0) == SCHED_OTHER);
	return 0;
}

static const struct test tests[] = {
	{ "itself", itself },	    { "threads", threads }, { "children", children },
	{ "wanderers", wanderers }, { "classes", classes },
};

int main(int argc, char **argv)
{
	char list[256] = "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sched_getaffinity(0, sizeof(all), &all))
		return 2;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all))
			cpus[n_cpus++] = i;
	if (argc > 1 && strcmp(argv[1], "list") == 0) {
		read_list(list);
		for (int i = 0; i < n_cpus; i++)
			printf("%d%c", cpus[i], i < n_cpus - 1 ? ',' : ' ');
		printf("%s %d\n", list, on_cpu());
		return 0;
	}
	if (n_cpus < 2)
		return 2;
	return RUN_TESTS(tests, argc > 1 ? argv[1] : NULL);
}
