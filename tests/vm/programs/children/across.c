/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_vm_readv(2) and process_vm_writev(2) between a parent and its child, also while the child changes its
 * mappings and ends. Prints the same on Linux and on the LWK.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SIZE (3UL << 20)
#define PART (SIZE / 16)
#define ROUNDS 20

static unsigned char *pattern, *untouched, *shared, *mine;
static volatile int *word; /* shared with the child */

static void *map(size_t size, int flags)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
}

static ssize_t get(pid_t pid, void *to, void *from, size_t size)
{
	struct iovec local = { to, size }, remote = { from, size };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static ssize_t put(pid_t pid, void *from, void *to, size_t size)
{
	struct iovec local = { from, size }, remote = { to, size };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0);
}

static unsigned char byte_at(size_t i)
{
	return i * 7 + i / 4096;
}

/* The child: fills memory, waits for the parent, looks at what the parent has written. */
static int child(void)
{
	for (size_t i = 0; i < SIZE; i++)
		pattern[i] = byte_at(i);
	memset(shared, 5, 4096);
	*word = 1;
	while (*word != 2)
		usleep(1000);
	for (size_t i = 0; i < SIZE; i++)
		if (untouched[i] != byte_at(i + 1))
			return 1;
	return 0;
}

static bool is_pattern(const unsigned char *data, size_t from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] != byte_at(from + i))
			return false;
	return true;
}

static int lists(pid_t pid)
{
	struct iovec local[] = {
		{ mine, 10 }, { NULL, 0 }, { mine + 10, 9000 }, { mine + 9010, 90 }
	};
	struct iovec remote[] = { { pattern + 4090, 5000 }, { pattern + 9090, 4100 } };

	memset(mine, 0, SIZE);
	CHECK(process_vm_readv(pid, local, 4, remote, 2, 0) == 9100);
	CHECK(is_pattern(mine, 4090, 9100) && !mine[9100]);
	CHECK(process_vm_readv(pid, local, 4, remote, 0, 0) == 0);
	CHECK(process_vm_readv(pid, local, 0, remote, 2, 0) == 0);
	CHECK(process_vm_readv(pid, local, 4, remote, 2, 1) == -1 && errno == EINVAL);
	CHECK(process_vm_readv(pid, local, 1025, remote, 2, 0) == -1 && errno == EINVAL);
	return 0;
}

static int errors(pid_t pid)
{
	unsigned char *hole = map(3 * 4096, MAP_PRIVATE);

	CHECK(get(pid, mine, NULL, 8) == -1 && errno == EFAULT);
	CHECK(get(pid, NULL, pattern, 8) == -1 && errno == EFAULT);
	CHECK(get(pid, mine, (void *)-4096, 8) == -1 && errno == EFAULT);
	CHECK(get(0x3fffff, mine, pattern, 8) == -1 && errno == ESRCH);
	CHECK(put(pid, mine, (void *)(uintptr_t)errors, 8) == -1 && errno == EFAULT);
	/* The call copies up to the first page that is missing. */
	CHECK(munmap(hole + 4096, 4096) == 0);
	CHECK(get(getpid(), mine, hole, 3 * 4096) == 4096);
	CHECK(get(pid, mine, pattern, 0) == 0);
	return 0;
}

static bool is_of_child(unsigned char byte)
{
	return byte == 0 || byte == 1 || byte == 9;
}

/* The child maps, unmaps and ends while the parent reads. */
static int race(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int i = 0; i < 20; i++)
				memset(mmap(pattern, SIZE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
				       9, PART);
			_exit(0);
		}
		while (get(pid, mine, pattern, PART) >= 0)
			CHECK(is_of_child(mine[0]) && is_of_child(mine[PART - 1]));
		CHECK(errno == ESRCH || errno == EFAULT);
		if (errno == EFAULT)
			kill(pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	return 0;
}

static int all(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(child());
	while (*word != 1)
		usleep(1000);
	CHECK(get(pid, mine, pattern, SIZE) == SIZE && is_pattern(mine, 0, SIZE));
	CHECK(get(pid, mine, shared, 4096) == 4096 && mine[0] == 5 && mine[4095] == 5);
	/* Memory that the child has not touched yet. */
	CHECK(get(pid, mine, untouched, 8) == 8 && !mine[0]);
	for (size_t i = 0; i < SIZE; i++)
		mine[i] = byte_at(i + 1);
	CHECK(put(pid, mine, untouched, SIZE) == SIZE);
	if (lists(pid) || errors(pid))
		return 1;
	*word = 2;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(get(pid, mine, pattern, 8) == -1 && errno == ESRCH);
	memset(pattern, 1, SIZE);
	return race();
}

int main(void)
{
	pattern = map(SIZE, MAP_PRIVATE);
	untouched = map(SIZE, MAP_PRIVATE);
	shared = map(4096, MAP_SHARED);
	mine = map(SIZE, MAP_PRIVATE);
	word = map(4096, MAP_SHARED);
	if (all())
		return 1;
	puts("all of it is right");
	return 0;
}
