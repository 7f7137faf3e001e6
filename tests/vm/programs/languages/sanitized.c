/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built with a sanitizer: "clean" computes, "overflow" reads behind an array, "race" races. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 100000

static long counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *locked)
{
	for (int i = 0; i < 1000; i++) {
		if (locked)
			pthread_mutex_lock(&lock);
		counter++;
		if (locked)
			pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "clean";
	size_t more = strcmp(what, "overflow") == 0;
	void *locked = strcmp(what, "race") == 0 ? NULL : &lock;
	int *numbers = calloc(N, sizeof(*numbers));
	pthread_t threads[2];
	long sum = 0;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, count, locked))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < N; i++)
		numbers[i] = i % 7;
	for (size_t i = 0; i < N + more; i++)
		sum += numbers[i];
	free(numbers);
	printf("sum %ld, %s\n", sum, counter > 0 ? "counted" : "not counted");
	return 0;
}
