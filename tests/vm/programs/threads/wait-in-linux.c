/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait-in-linux FIFO: each thread and a child wait for ever in another call that Linux carries out.
 * Prints "all wait" when they do.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *fifo;
static int silent[2]; /* a pipe that nobody writes to */

static void read_pipe(void)
{
	char byte;

	(void)!read(silent[0], &byte, 1);
}

static void poll_pipe(void)
{
	struct pollfd of = { silent[0], POLLIN, 0 };

	poll(&of, 1, -1);
}

static void wait_for_event(void)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(0), &event, 1, -1);
}

static void accept_connection(void)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un nameless = { .sun_family = AF_UNIX };

	bind(listener, (struct sockaddr *)&nameless, sizeof(sa_family_t));
	listen(listener, 1);
	accept(listener, NULL, NULL);
}

static void receive(void)
{
	int ends[2];
	char byte;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	recv(ends[0], &byte, 1, 0);
}

static void open_fifo(void)
{
	open(fifo, O_WRONLY);
}

static void lock_file(void)
{
	flock(open("/proc/self/exe", O_RDONLY), LOCK_EX);
	flock(open("/proc/self/exe", O_RDONLY), LOCK_EX);
}

static void (*const waits[])(void) = { read_pipe, poll_pipe, wait_for_event, accept_connection,
				       receive,	  open_fifo, lock_file };

static void *run(void *wait)
{
	(*(void (*const *)(void))wait)();
	puts("a wait has ended");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	CHECK(argc == 2 && pipe(silent) == 0);
	fifo = argv[1];
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		CHECK(pthread_create(&thread, NULL, run, (void *)&waits[i]) == 0);
	if (fork() == 0) {
		sleep(2);
		puts("all wait");
		fflush(stdout);
		read_pipe();
		puts("a wait has ended");
		return 0;
	}
	wait(NULL);
	puts("a wait has ended");
	return 0;
}
