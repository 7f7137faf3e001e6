/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hammer SECONDS [THREADS [FILE]]: each thread makes one delegated call after the other, and tells at the end how
 * many, and how many of them a server made. Reads the file, else writes to /dev/null.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Calls before the program says that it begins. */
#define BEGINNING 1000

static time_t end;
static const char *path; /* NULL: write to /dev/null */

/* Returns how many calls of the calling thread a server has made. */
static long by_server(void)
{
	FILE *file = fopen("/proc/thread-self/lwk", "r");
	char line[80];
	long calls = 0;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "server_calls %ld", &calls);
	if (file)
		fclose(file);
	return calls;
}

static void *hammer(void *is_first)
{
	int file = path ? open(path, O_RDONLY) : open("/dev/null", O_WRONLY);
	long long calls = 0;
	char byte;

	for (; time(NULL) < end; calls++) {
		if ((path ? pread(file, &byte, 1, 0) : write(file, "", 1)) != 1)
			err(1, "%s", path ? path : "/dev/null");
		if (calls == BEGINNING && is_first) {
			puts("begins");
			fflush(stdout);
		}
	}
	printf("calls %lld\nby a server %ld\n", calls, by_server());
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[threads > 1 ? threads : 1];

	if (argc < 2)
		errx(1, "usage: hammer SECONDS [THREADS [FILE]]");
	end = time(NULL) + atoi(argv[1]);
	path = argc > 3 ? argv[3] : NULL;
	for (int i = 1; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, hammer, NULL))
			errx(1, "cannot make thread %d", i);
	}
	hammer(thread);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
