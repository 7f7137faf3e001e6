/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes for two seconds and prints how many interrupts came in this time. Runs on the LWK only.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

static long long disturbances(void)
{
	FILE *facts = fopen("/proc/self/lwk", "r");
	char line[256];
	long long value = -1;

	while (facts && fgets(line, sizeof(line), facts))
		sscanf(line, "disturbances %lld", &value);
	if (facts)
		fclose(facts);
	return value;
}

int main(void)
{
	long long before = disturbances();
	time_t end = time(NULL) + 2;
	volatile double x = 1;

	while (time(NULL) < end)
		for (int i = 0; i < 100000; i++)
			x = x * 1.0000001;
	printf("disturbances %lld\n", before < 0 ? -1 : disturbances() - before);
	return 0;
}
