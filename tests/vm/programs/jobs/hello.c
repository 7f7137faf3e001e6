/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hello [ARG]...: prints its kernel, CPU, user and arguments. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname kernel;

	uname(&kernel);
	printf("kernel=%s cpu=%d uid=%d\n", kernel.version, sched_getcpu(), getuid());
	for (int i = 0; i < argc; i++)
		printf("<%s>\n", argv[i]);
	return 0;
}
