/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the promises of execve(2) and of the library's functions that start programs. Prints the
 * same on Linux and on an LWK. It has at most two children at a time.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "children.h"

extern char **environ;
static const char *self;
/* The program has no memory at this address, and the compiler must not know that. */
static char *volatile bad = (char *)8;

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

static void on_usr(int signal)
{
	(void)signal;
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

/* execve(2) fails with that error, and the process stays as it was. */
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

/* ---- libc's functions ---- */

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
	static const struct test tests[] = {
		{ "arguments and environment", arguments },
		{ "close on exec", close_on_exec },
		{ "signals over exec", signals_over_exec },
		{ "the same process after exec", same_process },
		{ "errors of exec", errors_of_exec },
		{ "scripts", scripts },
		{ "programs by descriptor", by_descriptor },
		{ "posix_spawn", spawn },
		{ "system and popen", shell },
		{ "posix_spawn with threads", spawn_with_threads },
	};

	self = realpath("/proc/self/exe", NULL);
	if (argc > 1)
		return act(argc, argv);
	return RUN_TESTS(tests, NULL);
}
