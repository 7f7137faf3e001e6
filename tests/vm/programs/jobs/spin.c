/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin: prints a line, then computes until it is killed. */
#include <stdio.h>

int main(void)
{
	puts("spinning");
	fflush(stdout);
	for (volatile unsigned long i = 0;; i = i + 1)
		;
}
