/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hammer SECONDS [THREADS]: each thread makes one delegated call after the other. */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static time_t end;

static void *hammer(void *argument)
{
	int file = open("/dev/null", O_WRONLY);
	long long calls = 0;

	(void)argument;
	for (; time(NULL) < end; calls++) {
		if (write(file, "", 1) != 1)
			err(1, "/dev/null");
	}
	printf("calls %lld\n", calls);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[threads > 1 ? threads : 1];

	if (argc < 2)
		errx(1, "usage: hammer SECONDS [THREADS]");
	end = time(NULL) + atoi(argv[1]);
	puts("begins");
	fflush(stdout);
	for (int i = 1; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, hammer, NULL))
			errx(1, "cannot make thread %d", i);
	}
	hammer(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
