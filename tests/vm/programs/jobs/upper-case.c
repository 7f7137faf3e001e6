/* SPDX-License-Identifier: GPL-2.0-or-later */
/* upper-case: copies stdin to stdout in capital letters. */
#include <ctype.h>
#include <stdio.h>

int main(void)
{
	int c;

	while ((c = getchar()) != EOF)
		putchar(toupper(c));
	return 0;
}
