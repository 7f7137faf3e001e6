// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the moments of a switch at which a fault can be ordered (switch/fault.h), one a line, from
 * the tables of steps: "on cpus before".
 */
#include <stdio.h>

#include "switch/steps/table.h"
#include "switch/warm_parts.h"

static void print(const char *direction, const char *name)
{
	printf("%s %s before\n%s %s after\n", direction, name, direction, name);
}

static void print_parts(const struct warm_part *part)
{
	for (; part->name; part++)
		print(part->direction, part->name);
}

int main(void)
{
	size_t n = 0;

	for (; all_steps[n]; n++)
		print("on", all_steps[n]->name);
	while (n-- > 0) {
		if (all_steps[n]->undo)
			print("off", all_steps[n]->name);
	}
	print_parts(keep_parts);
	print_parts(adopt_parts);
	return 0;
}
