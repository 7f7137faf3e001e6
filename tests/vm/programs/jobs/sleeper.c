/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sleeper SECONDS: prints its kernel and CPU, sleeps for SECONDS, and prints that it is over. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname kernel;

	uname(&kernel);
	printf("kernel=%s cpu=%d\n", kernel.version, sched_getcpu());
	fflush(stdout);
	sleep(argc > 1 ? atoi(argv[1]) : 1);
	puts("over");
	return 0;
}
