/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that signals interrupt calls that wait, and no others. Argument: the only test to run. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"

/* Handlers have the arguments that signal(7) gives them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static volatile sig_atomic_t count;

static void handler(int signal)
{
	count++;
}

static void install(int signal, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void every_us(unsigned us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- calls that never wait ---- */

/* The files and descriptors that the calls are about. */
static struct {
	char name[64], other[64];
	int file, empty[2], terminal, semaphores, listener, epoll;
	struct sockaddr_in address;
	int *shared; /* memory */
	pid_t child;
} about;

static int prepare(const char *directory)
{
	socklen_t size = sizeof(about.address);

	snprintf(about.name, sizeof(about.name), "%s/waits-%d", directory, getpid());
	snprintf(about.other, sizeof(about.other), "%s/other-%d", directory, getpid());
	about.file = open(about.name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	about.terminal = posix_openpt(O_RDWR | O_NOCTTY);
	about.semaphores = semget(IPC_PRIVATE, 1, 0600);
	about.listener = socket(AF_INET, SOCK_STREAM, 0);
	about.epoll = epoll_create1(0);
	about.shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	about.address = (struct sockaddr_in){ .sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	CHECK(about.file >= 0 && about.terminal >= 0 && about.semaphores >= 0);
	CHECK(about.listener >= 0 && about.epoll >= 0 && about.shared != MAP_FAILED);
	CHECK(pipe2(about.empty, O_NONBLOCK) == 0);
	CHECK(bind(about.listener, (void *)&about.address, sizeof(about.address)) == 0);
	CHECK(getsockname(about.listener, (void *)&about.address, &size) == 0);
	CHECK(listen(about.listener, 5) == 0);
	about.child = fork();
	if (!about.child)
		for (;;)
			pause();
	CHECK(about.child > 0);
	return 0;
}

static void clean_up(void)
{
	every_us(0);
	if (about.child > 0) {
		kill(about.child, SIGKILL);
		waitpid(about.child, NULL, 0);
	}
	unlink(about.name);
	unlink(about.other);
	semctl(about.semaphores, 0, IPC_RMID);
}

static int paths(void)
{
	struct stat file;
	char directory[PATH_MAX];

	CHECK(stat(about.name, &file) == 0);
	CHECK(access(about.name, R_OK) == 0);
	CHECK(rename(about.name, about.other) == 0);
	CHECK(rename(about.other, about.name) == 0);
	CHECK(mkdir(about.other, 0700) == 0);
	CHECK(rmdir(about.other) == 0);
	CHECK(link(about.name, about.other) == 0);
	CHECK(unlink(about.other) == 0);
	CHECK(getcwd(directory, sizeof(directory)));
	CHECK(setpgid(0, getpgrp()) == 0 || errno == EPERM);
	return 0;
}

static int files(void)
{
	char text[100] = "a text";
	int fd = open(about.name, O_RDONLY), copy;

	CHECK(fd >= 0);
	CHECK(write(about.file, text, sizeof(text)) == sizeof(text));
	CHECK(pread(fd, text, sizeof(text), 0) == sizeof(text));
	CHECK(fsync(about.file) == 0);
	CHECK(ftruncate(about.file, 0) == 0);
	CHECK(lseek(about.file, 0, SEEK_SET) == 0);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
	CHECK(flock(fd, LOCK_UN) == 0);
	CHECK((copy = dup(fd)) >= 0);
	CHECK(close(copy) == 0);
	CHECK(close(fd) == 0);
	return 0;
}

/* stdio does not repeat a write that failed. */
static int streams(void)
{
	FILE *file = fopen(about.name, "w");

	CHECK(file);
	for (int i = 0; i < 100; i++)
		CHECK(fprintf(file, "%d\n", i) > 0);
	CHECK(fclose(file) == 0);
	return 0;
}

static int entries(void)
{
	DIR *directory = opendir("/");
	int n = 0;

	CHECK(directory);
	for (errno = 0; readdir(directory); n++)
		;
	CHECK(n > 5 && errno != EINTR);
	CHECK(closedir(directory) == 0);
	return 0;
}

static int devices(void)
{
	int null = open("/dev/null", O_WRONLY), zero = open("/dev/zero", O_RDONLY), bytes;
	struct termios settings;
	char byte;

	CHECK(null >= 0 && zero >= 0);
	CHECK(write(null, "x", 1) == 1);
	CHECK(read(zero, &byte, 1) == 1);
	CHECK(tcgetattr(about.terminal, &settings) == 0);
	CHECK(ioctl(about.empty[0], FIONREAD, &bytes) == 0);
	CHECK(close(null) == 0 && close(zero) == 0);
	return 0;
}

/* These say that they do not wait, or they wake others. */
static int impatient(void)
{
	struct sembuf add = { .sem_op = 1 }, take = { .sem_op = -1, .sem_flg = IPC_NOWAIT };
	struct epoll_event event;
	char byte;

	CHECK(read(about.empty[0], &byte, 1) == -1 && errno == EAGAIN);
	CHECK(write(about.empty[1], "x", 1) == 1);
	CHECK(read(about.empty[0], &byte, 1) == 1);
	CHECK(waitpid(about.child, NULL, WNOHANG) == 0);
	CHECK(semop(about.semaphores, &add, 1) == 0);
	CHECK(semop(about.semaphores, &take, 1) == 0);
	CHECK(semop(about.semaphores, &take, 1) == -1 && errno == EAGAIN);
	CHECK(epoll_wait(about.epoll, &event, 1, 0) == 0);
	CHECK(syscall(SYS_futex, about.shared, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);
	return 0;
}

static int await(int fd, short events)
{
	struct pollfd element = { .fd = fd, .events = events };
	int ready;

	while ((ready = poll(&element, 1, 10000)) == -1 && errno == EINTR)
		;
	CHECK(ready == 1);
	return 0;
}

/* A connection goes on after EINTR, and the socket can be written to when there is one. */
static int connect_at_last(int fd)
{
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);

	if (connect(fd, (void *)&about.address, sizeof(about.address))) {
		CHECK(errno == EINTR);
		if (await(fd, POLLOUT))
			return 1;
	}
	CHECK(getpeername(fd, (void *)&peer, &size) == 0);
	return 0;
}

static int connections(void)
{
	int one = socket(AF_INET, SOCK_STREAM, 0), other, ends[2];
	char byte;

	CHECK(one >= 0);
	if (connect_at_last(one) || await(about.listener, POLLIN))
		return 1;
	CHECK(close(one) == 0);
	CHECK(fcntl(about.listener, F_SETFL, O_NONBLOCK) == 0);
	CHECK((other = accept(about.listener, NULL, NULL)) >= 0);
	CHECK(close(other) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	CHECK(recv(ends[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
	return 0;
}

static int again_and_again(int (*calls)(void))
{
	double begin = now();
	int wrong;

	count = 0;
	every_us(2000);
	/* On a busy host few signals come in a second. */
	do {
		wrong = calls();
	} while (!wrong && now() < begin + (count < 20 ? 60 : 1));
	every_us(0);
	if (!wrong)
		CHECK(count >= 20);
	return wrong;
}

static int on_files(const char *directory)
{
	int wrong = prepare(directory) || again_and_again(paths) || again_and_again(files) ||
		    again_and_again(streams);

	clean_up();
	return wrong;
}

static int on_others(void)
{
	int wrong = prepare("/tmp") || again_and_again(entries) || again_and_again(devices) ||
		    again_and_again(impatient) || again_and_again(connections);

	clean_up();
	return wrong;
}

static int never_interrupted(void)
{
	/* Linux begins no call again after this handler. */
	install(SIGALRM, 0);
	return on_files("/dev/shm") || on_files("/tmp") || on_others();
}

/* ---- calls that wait ---- */

static int interrupted(void)
{
	int ends[2], status;
	struct sembuf take = { .sem_op = -1 };
	struct pollfd element = { .events = POLLIN };
	char fifo[64], byte;

	CHECK(prepare("/tmp") == 0);
	snprintf(fifo, sizeof(fifo), "/tmp/fifo-%d", getpid());
	CHECK(pipe(ends) == 0 && mkfifo(fifo, 0600) == 0);
	element.fd = ends[0];
	install(SIGALRM, 0);
	every_us(2000);
	for (int i = 0; i < 100; i++) {
		CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
		CHECK(open(fifo, O_RDONLY) == -1 && errno == EINTR);
		CHECK(semop(about.semaphores, &take, 1) == -1 && errno == EINTR);
		CHECK(waitpid(about.child, &status, 0) == -1 && errno == EINTR);
		CHECK(poll(&element, 1, -1) == -1 && errno == EINTR);
		CHECK(accept(about.listener, NULL, NULL) == -1 && errno == EINTR);
		CHECK(sleep(10) > 0);
	}
	clean_up();
	unlink(fifo);
	return 0;
}

/* ---- waits of a given time ---- */

/* The signals come during each wait, and for some time afterwards if it does not end. */
#define WAIT_MS 500
#define PAUSE_MS 100
#define SIGNALS 20

static struct timespec wait_time(void)
{
	return (struct timespec){ 0, WAIT_MS * 1000000 };
}

static int sleeps(void)
{
	struct timespec time = wait_time();

	return nanosleep(&time, NULL);
}

/* The time is where the rest would be, and stays as it is. */
static int sleeps_with_rest(void)
{
	struct timespec time = wait_time();
	int result = nanosleep(&time, &time);

	return result || time.tv_nsec != WAIT_MS * 1000000;
}

static int sleeps_on_clock(void)
{
	struct timespec time = wait_time();

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static int sleeps_until(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += WAIT_MS * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int polls(void)
{
	struct pollfd element = { .fd = about.empty[0], .events = POLLIN };

	return poll(&element, 1, WAIT_MS);
}

/* Blocks in its wait what the program blocks. */
static int polls_with_mask(void)
{
	struct pollfd element = { .fd = about.empty[0], .events = POLLIN };
	struct timespec time = wait_time();
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return ppoll(&element, 1, &time, &set);
}

static int selects(void)
{
	struct timeval time = { 0, WAIT_MS * 1000 };

	return select(0, NULL, NULL, NULL, &time);
}

static int epolls(void)
{
	struct epoll_event event;

	return epoll_wait(about.epoll, &event, 1, WAIT_MS);
}

static int epolls_with_mask(void)
{
	struct epoll_event event;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return epoll_pwait(about.epoll, &event, 1, WAIT_MS, &set);
}

static int takes_semaphore(void)
{
	struct sembuf take = { .sem_op = -1 };
	struct timespec time = wait_time();

	return semtimedop(about.semaphores, &take, 1, &time) != -1 || errno != EAGAIN;
}

static int waits_for_word(void)
{
	struct timespec time = wait_time();

	return syscall(SYS_futex, about.shared, FUTEX_WAIT, 0, &time, NULL, 0) != -1 ||
	       errno != ETIMEDOUT;
}

static int waits_for_own_word(void)
{
	struct timespec time = wait_time();
	int word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) != -1 ||
	       errno != ETIMEDOUT;
}

/*
 * Starts a process that sends two signals by turns. One is ignored and has been blocked, so that
 * Linux tells of it; the other is blocked.
 */
static pid_t disturb(void)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000 };
	pid_t parent = getpid(), child;
	sigset_t all, blocked;

	install(SIGUSR1, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	child = fork();
	if (child)
		return child;
	for (int i = 0; i < SIGNALS; i++) {
		nanosleep(&pause, NULL);
		kill(parent, i % 2 ? SIGURG : SIGUSR1);
	}
	_exit(0);
}

static void end_disturbance(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int in_time(void)
{
	static const struct {
		const char *name;
		int (*wait)(void);
	} waits[] = {
		{ "nanosleep", sleeps },
		{ "nanosleep with the rest", sleeps_with_rest },
		{ "clock_nanosleep", sleeps_on_clock },
		{ "clock_nanosleep until a time", sleeps_until },
		{ "poll", polls },
		{ "ppoll", polls_with_mask },
		{ "select", selects },
		{ "epoll_wait", epolls },
		{ "epoll_pwait", epolls_with_mask },
		{ "semtimedop", takes_semaphore },
		{ "futex, shared", waits_for_word },
		{ "futex, private", waits_for_own_word },
	};
	int wrong = 0;

	CHECK(prepare("/tmp") == 0);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		pid_t child = disturb();
		double start = now(), took;
		int result = waits[i].wait();

		took = now() - start;
		end_disturbance(child);
		/* A wait that begins again ends its own time after the last signal. */
		if (!result && took >= WAIT_MS / 1e3 && took < 3 * WAIT_MS / 1e3)
			continue;
		printf("wrong: %s: result %d after %.3f s\n", waits[i].name, result, took);
		wrong = 1;
	}
	clean_up();
	return wrong;
}

/* A handler ends a wait, and the next one has all of its time. */
static int handled(void)
{
	/* Some of the other signals come first. */
	const struct itimerval once = { .it_value = { 0, WAIT_MS * 900 } };
	struct timespec time = { 1, WAIT_MS * 1000000 }, rest = { 0 };
	double start, took, sum;
	pid_t child;

	CHECK(prepare("/tmp") == 0);
	install(SIGALRM, SA_RESTART);
	child = disturb();
	CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
	start = now();
	CHECK(nanosleep(&time, &rest) == -1 && errno == EINTR);
	took = now() - start;
	sum = took + rest.tv_sec + rest.tv_nsec / 1e9;
	if (took > 1.2 || sum < 1.49 || sum > 1.75) {
		printf("wrong: nanosleep: %.3f s, and %.3f s with the rest\n", took, sum);
		return 1;
	}
	CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
	CHECK(polls() == -1 && errno == EINTR);
	start = now();
	CHECK(polls() == 0);
	CHECK(now() - start >= WAIT_MS / 1e3);
	end_disturbance(child);
	clean_up();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "calls that never wait", never_interrupted },
		{ "calls that wait", interrupted },
		{ "waits end in time", in_time },
		{ "waits that a handler ends", handled },
	};

	setbuf(stdout, NULL);
	return RUN_TESTS(tests, argv[1]);
}
