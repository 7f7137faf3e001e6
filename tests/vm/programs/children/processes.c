/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the promises of fork(2), vfork(2) and wait(2). Prints the same on Linux and on an LWK. It
 * has at most two children at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "children.h"

#define KB 1024UL
#define MB (1024 * KB)

/* The program has no memory at this address, and the compiler must not know that. */
static char *volatile bad = (char *)8;

static int exit_codes(void)
{
	for (int code = 0; code < 256; code += 51) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(code);
		CHECK(pid > 0 && ends_with(pid, code));
	}
	CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
	return 0;
}

static int identity(void)
{
	int ends[2];
	pid_t ids[4], pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		pid_t own[4] = { getpid(), getppid(), getpgrp(), syscall(SYS_gettid) };

		_exit(write(ends[1], own, sizeof(own)) != sizeof(own));
	}
	CHECK(read(ends[0], ids, sizeof(ids)) == sizeof(ids));
	CHECK(ids[0] == pid && ids[1] == getpid() && ids[2] == getpgrp() && ids[3] == pid);
	CHECK(ends_with(pid, 0));
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int signals_to_child(void)
{
	int tries[] = { SIGTERM, SIGKILL, SIGUSR1 }, ends[2];
	pid_t pid;
	char byte;

	CHECK(pipe(ends) == 0);
	for (size_t i = 0; i < 3; i++) {
		pid = fork();
		if (pid == 0) {
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		CHECK(read(ends[0], &byte, 1) == 1);
		CHECK(kill(pid, tries[i]) == 0 && ends_by(pid, tries[i]));
	}
	pid = fork();
	if (pid == 0) {
		for (volatile unsigned long n = 0;; n = n + 1)
			;
	}
	CHECK(kill(pid, SIGINT) == 0 && ends_by(pid, SIGINT));
	pid = fork();
	if (pid == 0)
		abort();
	CHECK(ends_by(pid, SIGABRT));
	pid = fork();
	if (pid == 0)
		*bad = 1;
	CHECK(ends_by(pid, SIGSEGV));
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static volatile sig_atomic_t children_ended, handled;

static void on_child(int signal)
{
	(void)signal;
	children_ended++;
}

static void on_usr(int signal)
{
	(void)signal;
	handled++;
}

static int signal_of_the_end(void)
{
	struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	struct sigaction usr = { .sa_handler = on_usr };
	sigset_t set, old;
	pid_t pid;

	CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
	CHECK(sigaction(SIGUSR1, &usr, NULL) == 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);
	pid = fork();
	if (pid == 0) {
		sigset_t now;

		/* A child inherits handlers and the mask of blocked signals. */
		sigprocmask(SIG_BLOCK, NULL, &now);
		raise(SIGUSR1);
		_exit(!sigismember(&now, SIGCHLD) || handled != 1);
	}
	CHECK(pid > 0);
	while (!children_ended)
		sigsuspend(&old);
	CHECK(children_ended == 1 && ends_with(pid, 0) && !handled);
	CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
	action.sa_handler = SIG_DFL;
	CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	return 0;
}

static int stop_and_go_on(void)
{
	int status, ends[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		raise(SIGSTOP);
		_exit(read(ends[0], &byte, 1) == 1 ? 5 : 1);
	}
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	CHECK(kill(pid, SIGCONT) == 0);
	CHECK(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
	/* The child waits for this byte before it ends. */
	CHECK(write(ends[1], "x", 1) == 1 && ends_with(pid, 5));
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int waits(void)
{
	struct rusage usage;
	siginfo_t info;
	int status;
	pid_t first = fork(), second;

	if (first == 0) {
		usleep(300000);
		_exit(1);
	}
	second = fork();
	if (second == 0)
		_exit(2);
	CHECK(first > 0 && second > 0);
	CHECK(waitpid(first, &status, WNOHANG) == 0);
	CHECK(wait(&status) == second && WEXITSTATUS(status) == 2);
	CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == first);
	CHECK(info.si_code == CLD_EXITED && info.si_status == 1);
	first = fork();
	if (first == 0) {
		for (volatile unsigned long n = 0; n < 300000000UL; n++)
			;
		_exit(0);
	}
	CHECK(wait4(first, &status, 0, &usage) == first && !status);
	CHECK(usage.ru_utime.tv_sec || usage.ru_utime.tv_usec > 10000);
	CHECK(getrusage(RUSAGE_CHILDREN, &usage) == 0);
	CHECK(usage.ru_utime.tv_sec || usage.ru_utime.tv_usec > 10000);
	return 0;
}

/* ---- memory ---- */

static char in_data[8192] = "data";

/* True when every page holds its number plus 'add'. */
static int holds(const char *memory, size_t size, unsigned long add)
{
	for (size_t at = 0; at < size; at += 4096)
		if (*(const unsigned long *)(memory + at) != at + add)
			return 0;
	return 1;
}

static void fill(char *memory, size_t size, unsigned long add)
{
	for (size_t at = 0; at < size; at += 4096)
		*(unsigned long *)(memory + at) = at + add;
}

static int memory_is_copied(void)
{
	const size_t sizes[] = { 64 * KB, 2 * MB + 12 * KB, 16 * MB };
	char *areas[3], *reserved, *fixed, on_stack[4096] = "stack";
	pid_t pid;

	for (size_t i = 0; i < 3; i++) {
		areas[i] = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		CHECK(areas[i] != MAP_FAILED);
		fill(areas[i], sizes[i], i);
	}
	reserved = mmap(NULL, 1UL << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0);
	CHECK(reserved != MAP_FAILED);
	fixed = areas[2] + 4 * MB;
	CHECK(mprotect(fixed, 4096, PROT_READ) == 0);
	pid = fork();
	if (pid == 0) {
		int good = !strcmp(in_data, "data") && !strcmp(on_stack, "stack");

		for (size_t i = 0; i < 3; i++)
			good = good && holds(areas[i], sizes[i], i);
		if (!good)
			_exit(1);
		/* A read-only page is read-only in the copy, and the copy is separate. */
		if (read(open("/dev/zero", O_RDONLY), fixed, 1) != -1 || errno != EFAULT)
			_exit(2);
		mprotect(fixed, 4096, PROT_READ | PROT_WRITE);
		for (size_t i = 0; i < 3; i++)
			fill(areas[i], sizes[i], 77);
		strcpy(in_data, "another");
		strcpy(on_stack, "another");
		munmap(areas[0], sizes[0]);
		if (mprotect(reserved, MB, PROT_READ | PROT_WRITE))
			_exit(3);
		fill(reserved, MB, 1);
		if (sbrk(MB) == (void *)-1)
			_exit(4);
		_exit(holds(areas[2], sizes[2], 77) ? 0 : 5);
	}
	CHECK(pid > 0);
	/* The parent writes at the same time. */
	fill(areas[1], sizes[1], 99);
	CHECK(ends_with(pid, 0));
	CHECK(!strcmp(in_data, "data") && !strcmp(on_stack, "stack"));
	CHECK(holds(areas[0], sizes[0], 0) && holds(areas[1], sizes[1], 99) &&
	      holds(areas[2], sizes[2], 2));
	for (size_t i = 0; i < 3; i++)
		munmap(areas[i], sizes[i]);
	munmap(reserved, 1UL << 40);
	return 0;
}

static int vfork_waits(void)
{
	char *argv[] = { "sh", "-c", "exit 9", NULL };
	char *volatile made = NULL, *volatile mapped = NULL;
	int ends[2];
	char byte = 0;
	pid_t pid;

	CHECK(pipe2(ends, O_NONBLOCK) == 0);
	in_data[5] = 'a';
	pid = vfork();
	if (pid == 0) {
		usleep(200000);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		in_data[5] = 'b';
		made = malloc(300 * KB);
		mapped = mmap(NULL, 4 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
		fill(mapped, 4 * MB, 6);
		sbrk(MB);
		_exit(3);
	}
	CHECK(read(ends[0], &byte, 1) == 1 && ends_with(pid, 3));
	/* Memory is shared with such a child. */
	CHECK(in_data[5] == 'b' && made && holds(mapped, 4 * MB, 6));
	memset(made, 1, 300 * KB);
	free(made);
	CHECK(munmap(mapped, 4 * MB) == 0);
	pid = vfork();
	if (pid == 0) {
		usleep(200000);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		execv("/bin/sh", argv);
		_exit(126);
	}
	CHECK(read(ends[0], &byte, 1) == 1 && ends_with(pid, 9));
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int memory_is_shared(void)
{
	char *shared =
		mmap(NULL, 64 * KB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *argv[] = { "true", NULL };
	pid_t pid;

	CHECK(shared != MAP_FAILED);
	in_data[5] = 'a';
	shared[0] = 'a';
	pid = fork();
	if (pid == 0) {
		if (shared[0] != 'a' || shared[60 * KB])
			_exit(1);
		shared[0] = shared[60 * KB] = 'b';
		_exit(2);
	}
	CHECK(ends_with(pid, 2) && shared[0] == 'b' && shared[60 * KB] == 'b');
	pid = vfork();
	if (pid == 0) {
		in_data[5] = 'c';
		shared[1] = shared[20 * KB] = 'c';
		_exit(3);
	}
	CHECK(ends_with(pid, 3) && shared[1] == 'c' && shared[20 * KB] == 'c');
	/* The private memory is the parent's, too. */
	CHECK(in_data[5] == 'c');
	CHECK(posix_spawn(&pid, "/nowhere/at all", NULL, NULL, argv, environ) == ENOENT);
	CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0);
	CHECK(ends_with(pid, 0) && shared[1] == 'c');
	pid = fork();
	if (pid == 0) {
		munmap(shared, 32 * KB);
		shared[60 * KB] = 'd';
		_exit(4);
	}
	CHECK(ends_with(pid, 4) && shared[1] == 'c' && shared[60 * KB] == 'd');
	return munmap(shared, 64 * KB);
}

/* Floating point, thread-local storage and the registers that a compiler keeps over a call. */
static __thread int in_tls = 3;

static int registers_are_copied(void)
{
	volatile double one = 1, three = 3;
	double third = one / three;
	pid_t pid;

	in_tls = 4;
	pid = fork();
	if (pid == 0) {
		int good = third * three == 1 && in_tls == 4;

		in_tls = 5;
		_exit(good ? 0 : 1);
	}
	CHECK(ends_with(pid, 0) && in_tls == 4 && third * three == 1);
	return 0;
}

static int descriptors(void)
{
	char text[64];
	int there[2], back[2];
	pid_t pid;
	FILE *file;

	CHECK(pipe(there) == 0 && pipe(back) == 0);
	pid = fork();
	if (pid == 0) {
		ssize_t n;

		close(there[1]);
		close(back[0]);
		while ((n = read(there[0], text, sizeof(text))) > 0) {
			for (ssize_t i = 0; i < n; i++)
				text[i] ^= 0x20;
			if (write(back[1], text, n) != n)
				_exit(1);
		}
		_exit(n ? 2 : 0);
	}
	close(there[0]);
	close(back[1]);
	for (int i = 0; i < 100; i++) {
		CHECK(write(there[1], "ping", 4) == 4);
		CHECK(read(back[0], text, sizeof(text)) == 4 && !memcmp(text, "PING", 4));
	}
	close(there[1]);
	CHECK(read(back[0], text, 1) == 0 && ends_with(pid, 0));
	close(back[0]);
	/* The offset is shared, the descriptor is not. */
	file = tmpfile();
	CHECK(file && write(fileno(file), "0123456789", 10) == 10);
	CHECK(lseek(fileno(file), 2, SEEK_SET) == 2);
	pid = fork();
	if (pid == 0) {
		if (read(fileno(file), text, 3) != 3)
			_exit(1);
		_exit(close(fileno(file)));
	}
	CHECK(ends_with(pid, 0) && lseek(fileno(file), 0, SEEK_CUR) == 5);
	fclose(file);
	return 0;
}

static int generations(void)
{
	int ends[2], depth = 0;
	pid_t pid, last;

	CHECK(pipe(ends) == 0);
	/*
	 * Each process ends when it has made the next one, so that there are never more than three.
	 */
	pid = fork();
	if (pid == 0) {
		while (depth < 20) {
			pid_t child = fork();

			if (child > 0)
				_exit(0);
			if (child < 0) {
				usleep(10000);
				continue;
			}
			depth++;
		}
		last = getpid();
		_exit(write(ends[1], &last, sizeof(last)) != sizeof(last));
	}
	CHECK(ends_with(pid, 0));
	close(ends[1]);
	CHECK(read(ends[0], &last, sizeof(last)) == sizeof(last) && last != pid);
	/* An orphan is init's, not ours. */
	CHECK(waitpid(last, NULL, 0) == -1 && errno == ECHILD);
	close(ends[0]);
	return 0;
}

int main(void)
{
	static const struct test tests[] = {
		{ "exit codes", exit_codes },
		{ "identity", identity },
		{ "signals to a child", signals_to_child },
		{ "the signal of a child's end", signal_of_the_end },
		{ "a child that stops and goes on", stop_and_go_on },
		{ "ways to wait", waits },
		{ "memory", memory_is_copied },
		{ "vfork", vfork_waits },
		{ "shared memory", memory_is_shared },
		{ "registers", registers_are_copied },
		{ "descriptors", descriptors },
		{ "children of children", generations },
	};

	return RUN_TESTS(tests, NULL);
}
