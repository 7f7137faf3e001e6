// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the moments of a switch at which a fault can be ordered (switch/fault.h), one a line, from
 * the tables of steps: "on cpus before".
 */
#include <stdio.h>

#include "switch/steps/table.h"

static void print(const char *direction, const struct step *step)
{
	printf("%s %s before\n%s %s after\n", direction, step->name, direction, step->name);
}

int main(void)
{
	size_t n = 0;

	for (; all_steps[n]; n++)
		print("on", all_steps[n]);
	while (n-- > 0) {
		if (all_steps[n]->undo)
			print("off", all_steps[n]);
	}
	return 0;
}
