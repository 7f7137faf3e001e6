/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the promises of fork(2), execve(2), wait(2) and of the library's functions that use them.
 * Prints the same on Linux and on an LWK. It has at most two children at a time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define KB 1024UL
#define MB (1024 * KB)

extern char **environ;
static const char *self;
/* The program has no memory at this address, and the compiler must not know that. */
static char *volatile bad = (char *)8;

static int status_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int ends_with(pid_t pid, int code)
{
	int status = status_of(pid);

	return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static int ends_by(pid_t pid, int signal)
{
	int status = status_of(pid);

	return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

/* ---- fork and wait ---- */

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

		/* Handlers and what is blocked are inherited. */
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

/* Does every page hold its number? */
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

/* ---- other programs ---- */

/* The program again, as 'act' with these arguments. */
static pid_t start(char *const argv[], char *const envp[])
{
	pid_t pid = fork();

	if (pid == 0) {
		execve(self, argv, envp ? envp : environ);
		_exit(126);
	}
	return pid;
}

/* Does what the arguments of a started program say. */
static int act(int argc, char **argv)
{
	const char *what = argv[1];

	if (!strcmp(what, "arguments"))
		return argc == 4 && !strcmp(argv[0], "another name") && !*argv[2] &&
				       !strcmp(argv[3], "last one") && getenv("LWK_DEVICE") &&
				       !strcmp(getenv("LWK_DEVICE"), "/nowhere") &&
				       !strcmp(getenv("LWK_ARGV0"), "what") && !getenv("PATH")
			       ? 0
			       : 1;
	if (!strcmp(what, "closed"))
		return fcntl(atoi(argv[2]), F_GETFD) == -1 && fcntl(atoi(argv[3]), F_GETFD) == 0
			       ? 0
			       : 1;
	if (!strcmp(what, "signals")) {
		struct sigaction ignored, handled_before;
		sigset_t blocked, pending;

		sigaction(SIGUSR1, NULL, &handled_before);
		sigaction(SIGUSR2, NULL, &ignored);
		sigprocmask(SIG_BLOCK, NULL, &blocked);
		sigpending(&pending);
		if (handled_before.sa_handler != SIG_DFL || ignored.sa_handler != SIG_IGN)
			return 1;
		if (!sigismember(&blocked, SIGTERM) || sigismember(&blocked, SIGINT))
			return 2;
		if (!sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT))
			return 3;
		raise(SIGUSR2);
		sigprocmask(SIG_UNBLOCK, &blocked, NULL);
		return 4; /* by SIGTERM */
	}
	if (!strcmp(what, "pid"))
		return getpid() == atoi(argv[2]) && getppid() == atoi(argv[3]) ? 0 : 1;
	if (!strcmp(what, "again")) {
		char *next[] = { argv[0], "again", NULL, NULL };
		char left[16];

		if (atoi(argv[2]) == 0)
			return 9;
		snprintf(left, sizeof(left), "%d", atoi(argv[2]) - 1);
		next[2] = left;
		execv("/proc/self/exe", next);
	}
	return 1;
}

static int arguments(void)
{
	char *argv[] = { "another name", "arguments", "", "last one", NULL };
	char *envp[] = { "LWK_DEVICE=/nowhere", "LWK_ARGV0=what", "LWK_STACK_LIMIT=1",
			 "LWK_CALLS=none", NULL };

	CHECK(ends_with(start(argv, envp), 0));
	return 0;
}

static int close_on_exec(void)
{
	int closed = open("/dev/null", O_RDONLY | O_CLOEXEC), stays = dup(1);
	char first[16], second[16];
	char *argv[] = { "x", "closed", first, second, NULL };

	snprintf(first, sizeof(first), "%d", closed);
	snprintf(second, sizeof(second), "%d", stays);
	CHECK(closed > 0 && stays > 0 && ends_with(start(argv, NULL), 0));
	close(closed);
	close(stays);
	return 0;
}

static int signals_over_exec(void)
{
	struct sigaction usr = { .sa_handler = on_usr };
	char *argv[] = { "x", "signals", NULL };
	sigset_t set;
	pid_t pid = fork();

	if (pid == 0) {
		sigaction(SIGUSR1, &usr, NULL);
		signal(SIGUSR2, SIG_IGN);
		sigemptyset(&set);
		sigaddset(&set, SIGTERM);
		sigprocmask(SIG_BLOCK, &set, NULL);
		kill(getpid(), SIGTERM);
		execv(self, argv);
		_exit(126);
	}
	CHECK(ends_by(pid, SIGTERM));
	return 0;
}

static int same_process(void)
{
	char own[16], parent[16];
	char *argv[] = { "x", "pid", own, parent, NULL };
	char *again[] = { "x", "again", "10", NULL };
	pid_t pid;

	snprintf(parent, sizeof(parent), "%d", getpid());
	pid = fork();
	if (pid == 0) {
		snprintf(own, sizeof(own), "%d", getpid());
		execv(self, argv);
		_exit(126);
	}
	CHECK(ends_with(pid, 0));
	CHECK(ends_with(start(again, NULL), 9));
	return 0;
}

static int write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, mode) == 0);
	return close(fd);
}

/* execve(2) fails with it, and the process is what it was. */
static int fails_with(const char *path, char *const argv[], int error)
{
	int result = execve(path, argv, environ);

	return result == -1 && errno == error;
}

static int errors_of_exec(void)
{
	char *argv[] = { "x", NULL };
	char long_name[5000];

	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	CHECK(fails_with("/nowhere/at all", argv, ENOENT));
	CHECK(fails_with("", argv, ENOENT));
	CHECK(fails_with("/etc/passwd/x", argv, ENOTDIR));
	CHECK(fails_with("/tmp", argv, EACCES));
	CHECK(fails_with("/etc/passwd", argv, EACCES));
	CHECK(fails_with(long_name, argv, ENAMETOOLONG));
	CHECK(fails_with(bad, argv, EFAULT));
	CHECK(fails_with(self, (char **)bad, EFAULT));
	argv[0] = bad;
	CHECK(fails_with(self, argv, EFAULT));
	argv[0] = "x";
	CHECK(write_file("no-program", "plain text\n", 0755) == 0);
	CHECK(fails_with("./no-program", argv, ENOEXEC));
	CHECK(write_file("no-interpreter", "#!/nowhere/sh\n", 0755) == 0);
	CHECK(fails_with("./no-interpreter", argv, ENOENT));
	CHECK(unlink("no-program") == 0 && unlink("no-interpreter") == 0);
	return 0;
}

static int scripts(void)
{
	char *argv[] = { "ignored", "two words", NULL };
	pid_t pid;

	CHECK(write_file("script",
			 "#!/bin/sh -e\ntest \"$0\" = ./script\ntest \"$1\" = 'two words'\n"
			 "test $# = 1\nexit 42\n",
			 0755) == 0);
	pid = fork();
	if (pid == 0) {
		execv("./script", argv);
		_exit(126);
	}
	CHECK(ends_with(pid, 42) && unlink("script") == 0);
	return 0;
}

static int by_descriptor(void)
{
	char *argv[] = { "another name", "again", "0", NULL };
	int fd = open(self, O_RDONLY | O_CLOEXEC), bin = open("/bin", O_RDONLY | O_DIRECTORY);
	pid_t pid = fork();

	if (pid == 0) {
		fexecve(fd, argv, environ);
		_exit(126);
	}
	CHECK(ends_with(pid, 9));
	pid = fork();
	if (pid == 0) {
		char *no_more[] = { "false", NULL };

		syscall(SYS_execveat, bin, "false", no_more, environ, 0);
		_exit(126);
	}
	CHECK(ends_with(pid, 1));
	close(fd);
	close(bin);
	return 0;
}

/* ---- what libc makes of it ---- */

static int vfork_waits(void)
{
	char *argv[] = { "x", "again", "0", NULL };
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
		execv(self, argv);
		_exit(126);
	}
	CHECK(read(ends[0], &byte, 1) == 1 && ends_with(pid, 9));
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int spawn(void)
{
	char *argv[] = { "sh", "-c", "read line; echo \"got $line\"; exit 6", NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	char text[32] = "";
	pid_t pid;

	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	CHECK(posix_spawnp(&pid, "sh", &actions, NULL, argv, environ) == 0);
	posix_spawn_file_actions_destroy(&actions);
	CHECK(write(in[1], "this\n", 5) == 5);
	CHECK(ends_with(pid, 6));
	CHECK(read(out[0], text, sizeof(text)) == 9 && !memcmp(text, "got this\n", 9));
	CHECK(posix_spawn(&pid, "/nowhere/at all", NULL, NULL, argv, environ) == ENOENT);
	CHECK(wait(NULL) == -1 && errno == ECHILD);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	return 0;
}

static void *do_nothing(void *argument)
{
	return argument;
}

/* From the first thread on, such a child has a copy of the memory. */
static int spawn_with_threads(void)
{
	char *argv[] = { "x", NULL };
	volatile int error = 0;
	pthread_t thread;
	pid_t pid;

	CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == 0 &&
	      pthread_join(thread, NULL) == 0);
	CHECK(posix_spawn(&pid, "/nowhere/at all", NULL, NULL, argv, environ) == ENOENT);
	CHECK(wait(NULL) == -1 && errno == ECHILD);
	CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0 && ends_with(pid, 0));
	pid = vfork();
	if (pid == 0) {
		execv("/nowhere/at all", argv);
		error = errno;
		_exit(127);
	}
	CHECK(ends_with(pid, 127) && error == ENOENT);
	pid = vfork();
	if (pid == 0) {
		getppid();
		error = EIO;
		execv("/bin/true", argv);
		_exit(126);
	}
	CHECK(ends_with(pid, 0) && error == EIO);
	return 0;
}

static int shell(void)
{
	char line[32];
	FILE *stream;

	CHECK(system(NULL));
	CHECK(system("exit 5") == 5 << 8);
	CHECK(system("kill -9 $$") == SIGKILL);
	CHECK(system("/bin/true && ! /bin/false") == 0);
	stream = popen("echo from the shell; exit 2", "r");
	CHECK(stream && fgets(line, sizeof(line), stream) && !strcmp(line, "from the shell\n"));
	CHECK(pclose(stream) == 2 << 8);
	stream = popen("read word && test \"$word\" = here", "w");
	CHECK(stream && fputs("here\n", stream) >= 0 && pclose(stream) == 0);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*test)(void);
	} tests[] = {
		{ "exit codes", exit_codes },
		{ "identity", identity },
		{ "signals to a child", signals_to_child },
		{ "the signal of a child's end", signal_of_the_end },
		{ "a child that stops and goes on", stop_and_go_on },
		{ "ways to wait", waits },
		{ "memory", memory_is_copied },
		{ "shared memory", memory_is_shared },
		{ "registers", registers_are_copied },
		{ "descriptors", descriptors },
		{ "children of children", generations },
		{ "arguments and environment", arguments },
		{ "close on exec", close_on_exec },
		{ "signals over exec", signals_over_exec },
		{ "the same process after exec", same_process },
		{ "errors of exec", errors_of_exec },
		{ "scripts", scripts },
		{ "programs by descriptor", by_descriptor },
		{ "vfork", vfork_waits },
		{ "posix_spawn", spawn },
		{ "system and popen", shell },
		{ "posix_spawn with threads", spawn_with_threads },
	};
	int failed = 0;

	self = realpath("/proc/self/exe", NULL);
	if (argc > 1)
		return act(argc, argv);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int wrong;

		printf("%s…\n", tests[i].name);
		fflush(stdout);
		wrong = tests[i].test();
		failed |= wrong;
		printf("%s: %s\n", tests[i].name, wrong ? "wrong" : "right");
		fflush(stdout);
	}
	return failed;
}
