/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hammer SECONDS: one delegated call after the other. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int file = open("/dev/null", O_WRONLY);
	long long calls = 0;
	time_t end;

	if (argc < 2 || file < 0)
		errx(1, "usage: hammer SECONDS");
	puts("begins");
	fflush(stdout);
	for (end = time(NULL) + atoi(argv[1]); time(NULL) < end; calls++) {
		if (write(file, "", 1) != 1)
			err(1, "/dev/null");
	}
	printf("calls %lld\n", calls);
	return 0;
}
