/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own-status: prints /proc/self/status. */
#include <err.h>
#include <stdio.h>

int main(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	int c;

	if (!file)
		err(1, "/proc/self/status");
	while ((c = getc(file)) != EOF)
		putchar(c);
	return 0;
}
