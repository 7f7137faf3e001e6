/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exit-with STATUS: ends with that exit status. */
#include <stdlib.h>

int main(int argc, char **argv)
{
	return argc > 1 ? atoi(argv[1]) : 0;
}
