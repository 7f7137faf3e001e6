/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ping-pong: two processes, a parent and its child, exchange messages of growing size through
 * memory that they share, as the OSU micro-benchmarks measure latency. They check all data; half
 * the time of a round trip goes to standard error.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGEST 65536
#define ROUNDS 300

/* One direction: 'count' messages have been put here. */
struct mailbox {
	_Alignas(64) atomic_int count;
	_Alignas(64) unsigned char data[LARGEST];
};

static struct mailbox *mail; /* to the parent, to the child */

static void send_to(int whom, int round, size_t size)
{
	memset(mail[whom].data, round + whom, size);
	atomic_store_explicit(&mail[whom].count, round, memory_order_release);
}

/* Waits for the message of that round. Returns true if it is whole. */
static bool receive(int me, int round, size_t size)
{
	const unsigned char *data = mail[me].data;

	/* Both may be on one CPU. */
	for (int i = 1; atomic_load_explicit(&mail[me].count, memory_order_acquire) != round; i++)
		if (i % 1000 == 0)
			sched_yield();
	return data[0] == (unsigned char)(round + me) && memcmp(data, data + 1, size - 1) == 0;
}

static int exchange(int me)
{
	int round = 0;

	for (size_t size = 1; size <= LARGEST; size *= 4) {
		struct timespec start, end;

		clock_gettime(CLOCK_MONOTONIC, &start);
		for (int i = 0; i < ROUNDS; i++) {
			round++;
			if (me)
				send_to(0, round, size);
			if (!receive(me, round, size)) {
				printf("wrong: message %d, of %zu bytes, to %s\n", round, size,
				       me ? "the child" : "the parent");
				return 1;
			}
			if (!me)
				send_to(1, round, size);
		}
		clock_gettime(CLOCK_MONOTONIC, &end);
		if (!me)
			fprintf(stderr, "%zu bytes: %.2f us\n", size,
				((end.tv_sec - start.tv_sec) * 1e6 +
				 (end.tv_nsec - start.tv_nsec) / 1e3) /
					ROUNDS / 2);
	}
	return 0;
}

int main(void)
{
	int status, wrong;
	pid_t child;

	mail = mmap(NULL, 2 * sizeof(*mail), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (mail == MAP_FAILED)
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0)
		_exit(exchange(1));
	wrong = exchange(0);
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	puts(wrong ? "wrong" : "all messages came");
	return wrong;
}
