/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fork-limits CASE: runs into the limits of fork(2).
 *   free          prints what the LWK has free: memory for processes, and its own
 *   many N        N children, one after the other; compares what is free before and afterwards
 *   endless       children that stay until fork fails, and one more after these have ended
 *   memory        a process that has more than half of the memory forks in vain, and goes on
 *   storm SECONDS children, threads, programs and children of children, for that long
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define PAGE 4096UL
#define MOST_CHILDREN 512

extern char **environ;

static unsigned long fact(const char *name)
{
	static char facts[4096];
	int fd = open("/proc/self/lwk", O_RDONLY);
	ssize_t n = read(fd, facts, sizeof(facts) - 1);
	const char *at;

	close(fd);
	if (n <= 0)
		return 0;
	facts[n] = '\0';
	at = strstr(facts, name);
	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

static int tell_free(void)
{
	printf("%lu %lu\n", fact("\nuser_free "), fact("\nkernel_free "));
	return 0;
}

static void touch(volatile char *memory, size_t size)
{
	for (size_t at = 0; at < size; at += PAGE)
		memory[at]++;
}

static int many(int n)
{
	const size_t size = 5UL << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long user, kernel;

	CHECK(memory != MAP_FAILED);
	touch(memory, size);
	user = fact("\nuser_free ");
	kernel = fact("\nkernel_free ");
	CHECK(user && kernel);
	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			unsigned long less = user - fact("\nuser_free ");

			/* Two processes exist now, and the stack is of large pages. */
			if (less < size || less > 3 * size)
				printf("the copy took %lu bytes\n", less);
			fflush(stdout);
			_exit(less < size || less > 3 * size);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	}
	CHECK(fact("\nuser_free ") == user);
	CHECK(fact("\nkernel_free ") == kernel);
	printf("%d children, and all is free that was\n", n);
	return 0;
}

static int all_end(const pid_t *children, int n)
{
	for (int i = 0; i < n; i++) {
		int status;

		CHECK(kill(children[i], SIGKILL) == 0);
		CHECK(waitpid(children[i], &status, 0) == children[i] && WIFSIGNALED(status));
	}
	CHECK(wait(NULL) == -1 && errno == ECHILD);
	return 0;
}

static int endless(void)
{
	pid_t children[MOST_CHILDREN];
	int n[2] = { 0 };

	for (int round = 0; round < 2; round++) {
		while (n[round] < MOST_CHILDREN) {
			pid_t pid = fork();

			if (pid == 0)
				for (;;)
					pause();
			if (pid < 0)
				break;
			children[n[round]++] = pid;
		}
		CHECK(n[round] < MOST_CHILDREN && errno == EAGAIN);
		CHECK(all_end(children, n[round]) == 0);
	}
	CHECK(n[0] == n[1]);
	printf("%d children, then EAGAIN\n", n[0]);
	return 0;
}

static int no_memory(void)
{
	unsigned long size = fact("\nuser_free ") / 10 * 6 / PAGE * PAGE;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *program[] = { "true", NULL };
	int status;
	pid_t pid;

	CHECK(size && memory != MAP_FAILED);
	touch(memory, size);
	CHECK(fork() == -1 && errno == ENOMEM);
	/* posix_spawn() needs no memory for a copy. */
	CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, program, environ) == 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	touch(memory, size);
	for (size_t at = 0; at < size; at += PAGE)
		CHECK(memory[at] == 2);
	CHECK(munmap(memory, size / 2) == 0);
	pid = fork();
	if (pid == 0)
		_exit(memory[size - PAGE] == 2 ? 8 : 1);
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 8);
	puts("ENOMEM, and afterwards as before");
	return 0;
}

/* ---- for others to kill ---- */

static void *run_thread(void *memory)
{
	touch(memory, 16 * PAGE);
	return NULL;
}

static void play(unsigned int depth)
{
	char *program[] = { "true", NULL }, *missing[] = { "missing", NULL };
	static char memory[3 << 20];
	pthread_t thread;
	pid_t pid;

	touch(memory, sizeof(memory));
	switch (rand() % 6) {
	case 0:
		pid = fork();
		if (pid == 0) {
			srand(getpid());
			if (depth < 2)
				play(depth + 1);
			_exit(0);
		}
		break;
	case 1:
		if (fork() == 0) {
			execv("/bin/true", program);
			_exit(1);
		}
		break;
	case 2:
		posix_spawn(&pid, "/bin/true", NULL, NULL, program, environ);
		break;
	case 3:
		posix_spawn(&pid, "/nowhere/at all", NULL, NULL, missing, environ);
		break;
	case 4:
		if (pthread_create(&thread, NULL, run_thread, memory) == 0)
			pthread_join(thread, NULL);
		break;
	default:
		if (fork() == 0)
			abort();
	}
	while (wait(NULL) > 0)
		;
}

static int storm(int seconds)
{
	time_t end = time(NULL) + seconds;

	srand(getpid());
	while (time(NULL) < end)
		play(0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "free"))
		return tell_free();
	if (!strcmp(what, "many"))
		return many(number);
	if (!strcmp(what, "endless"))
		return endless();
	if (!strcmp(what, "memory"))
		return no_memory();
	if (!strcmp(what, "storm"))
		return storm(number);
	return 2;
}
