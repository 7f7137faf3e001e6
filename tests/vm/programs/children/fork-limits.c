/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fork-limits CASE: runs into the limits of fork(2).
 *   free          prints what the LWK has free: memory for processes, and its own
 *   many N        N children, one after the other; compares what is free before and afterwards
 *   endless       children that stay until fork fails, and one more after these have ended
 *   memory        a process that has more than half of the memory forks; the child may change some
 *                 of it, is killed when it changes all of it, and the parent goes on
 *   copies N      N children change what their parent has, and it does, while its thread does I/O
 *   storm SECONDS children, threads, programs and children of children, for that long
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
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

/* Returns the child's status. */
static int fork_and_touch(volatile char *memory, size_t size)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		touch(memory, size);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
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
			unsigned long first = user - fact("\nuser_free "), less;

			touch(memory, size);
			less = user - fact("\nuser_free ");
			if (first > size / 4 || less < size || less > 2 * size)
				printf("the copy took %lu bytes, then %lu\n", first, less);
			fflush(stdout);
			_exit(first > size / 4 || less < size || less > 2 * size);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	}
	CHECK(fact("\nuser_free ") == user);
	/* The few page tables stay that were made when large pages became small ones. */
	CHECK(kernel - fact("\nkernel_free ") <= 8 * PAGE);
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

static int memory_twice(void)
{
	/* Half of it begins with a page, too. */
	unsigned long size = fact("\nuser_free ") / 10 * 6 / (2 * PAGE) * (2 * PAGE);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *program[] = { "true", NULL };
	int status;
	pid_t pid;

	CHECK(size && memory != MAP_FAILED);
	touch(memory, size);
	pid = fork();
	if (pid == 0) {
		for (size_t at = 0; at < size; at += PAGE)
			if (memory[at] != 1)
				_exit(1);
		touch(memory + size / 2, size / 4);
		_exit(memory[size / 2] == 2 && memory[0] == 1 ? 7 : 2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
	status = fork_and_touch(memory, size);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
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
	puts("killed, and afterwards as before");
	return 0;
}

/* ---- copies when something is written ---- */

#define WORDS (1UL << 20)
static unsigned int words[WORDS], ended;

static bool all_are(unsigned int value)
{
	for (size_t i = 0; i < WORDS; i++)
		if (words[i] != value)
			return false;
	return true;
}

static void set_all(unsigned int value)
{
	for (size_t i = 0; i < WORDS; i++)
		words[i] = value;
}

/* Linux reads memory that the thread writes, and writes memory that it reads, as pages are copied. */
static void *move_bytes(void *unused)
{
	static unsigned char from[64 * PAGE], to[64 * PAGE];
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	(void)unused;
	for (unsigned int round = 0; file >= 0 && !__atomic_load_n(&ended, __ATOMIC_RELAXED);
	     round++) {
		size_t at = round * 3 % 64 * PAGE, size = PAGE + round % 512;

		if (at + size > sizeof(from))
			continue;
		memset(from + at, round, size);
		if (pwrite(file, from + at, size, 0) != (ssize_t)size)
			return "pwrite";
		memset(from + at, ~round, size);
		if (pread(file, to + at, size, 0) != (ssize_t)size)
			return "pread";
		for (size_t i = at; i < at + size; i++)
			if (to[i] != (unsigned char)round)
				return "bytes";
	}
	close(file);
	return file < 0 ? "open" : NULL;
}

static int check_copy(unsigned int round)
{
	int zero = open("/dev/zero", O_RDONLY);

	CHECK(all_are(round));
	/* Linux is the first to write to some pages, the program to others. */
	CHECK(read(zero, words, sizeof(words) / 2) == sizeof(words) / 2);
	CHECK(words[0] == 0 && words[WORDS / 2 - 1] == 0 && words[WORDS / 2] == round);
	set_all(round + 1000);
	CHECK(write(zero, words, 0) <= 0 && all_are(round + 1000));
	return 0;
}

static int copies(int n)
{
	pthread_t thread;
	void *wrong;

	CHECK(pthread_create(&thread, NULL, move_bytes, NULL) == 0);
	for (int round = 1; round <= n; round++) {
		int status;
		pid_t pid;

		set_all(round);
		pid = fork();
		if (pid == 0) {
			status = check_copy(round);
			fflush(stdout);
			_exit(status);
		}
		CHECK(pid > 0);
		if (round % 2)
			set_all(-round);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		CHECK(all_are(round % 2 ? -round : round));
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	CHECK(pthread_join(thread, &wrong) == 0);
	printf("%s\n", wrong ? (char *)wrong : "each has its own");
	return wrong != NULL;
}

/* ---- for others to kill ---- */

static void *run_thread(void *memory)
{
	touch(memory, 16 * PAGE);
	return NULL;
}

/* Memory that is shared with other programs, and that the child of a vfork(2) grants again. */
static char *shared;

static void play(unsigned int depth)
{
	char *program[] = { "true", NULL }, *missing[] = { "missing", NULL };
	static char memory[3 << 20];
	pthread_t thread;
	pid_t pid;

	touch(memory, sizeof(memory));
	touch(shared, 16 * PAGE);
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

	shared = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
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
		return memory_twice();
	if (!strcmp(what, "copies"))
		return copies(number);
	if (!strcmp(what, "storm"))
		return storm(number);
	return 2;
}
