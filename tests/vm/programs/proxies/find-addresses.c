/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find-addresses DEVICE START SIZE...: looks in the status area of an LWK, and in the copy of it that
 * LWK_GET_USAGE makes, for physical addresses in these ranges, and for addresses at which an LWK has
 * them. Prints each, and how many words it has looked at. START and SIZE are decimal.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "check.h"

static int n_ranges;
static struct {
	uint64_t start, size;
} ranges[1024];
/* Words up to this may be amounts of memory, and are not taken for addresses. */
static uint64_t largest_amount;

static int is_lent(uint64_t address)
{
	for (int i = 0; i < n_ranges && address > largest_amount; i++)
		if (address >= ranges[i].start && address - ranges[i].start < ranges[i].size)
			return 1;
	return 0;
}

/* Times in cycles may have any value, and say nothing of memory. */
static void leave_out_times(struct lwk_status *status, unsigned n_slots)
{
	status->boot_tsc = 0;
	for (unsigned i = 0; i < n_slots; i++) {
		status->cpu[i].times.since_tsc = 0;
		memset(status->cpu[i].times.tsc, 0, sizeof(status->cpu[i].times.tsc));
	}
}

/* Returns how many addresses are there. */
static int look(const char *where, struct lwk_status *status, size_t size, unsigned n_slots)
{
	const uint64_t *words = (const uint64_t *)status;
	int found = 0;

	leave_out_times(status, n_slots);
	for (size_t i = 0; i < size / sizeof(*words); i++) {
		if (!is_lent(words[i]) && !is_lent(words[i] - LWK_DIRECT_MAP))
			continue;
		printf("%s: 0x%llx, %zu bytes from its beginning\n", where,
		       (unsigned long long)words[i], i * sizeof(*words));
		found++;
	}
	printf("%s: %zu words\n", where, size / sizeof(*words));
	return found;
}

int main(int argc, char **argv)
{
	static struct lwk_status copy;
	struct lwk_usage usage = { .buffer = (uintptr_t)&copy, .capacity = sizeof(copy) };
	struct lwk_instance_status state;
	int device, found;
	void *status;

	for (int i = 2; i + 1 < argc && n_ranges < 1024; i += 2, n_ranges++) {
		ranges[n_ranges].start = strtoull(argv[i], NULL, 10);
		ranges[n_ranges].size = strtoull(argv[i + 1], NULL, 10);
		largest_amount += ranges[n_ranges].size;
	}
	CHECK(n_ranges > 0);
	for (int i = 0; i < n_ranges; i++)
		CHECK(ranges[i].start > largest_amount);
	device = open(argv[1], O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_GET_STATUS, &state) == 0 && state.state == LWK_STATE_RUNNING);
	status = mmap(NULL, state.status_bytes, PROT_READ, MAP_SHARED, device, LWK_MMAP_STATUS);
	CHECK(status != MAP_FAILED);
	memcpy(&copy, status, state.status_bytes);
	CHECK(copy.magic == LWK_SHARED_MAGIC);
	found = look("status area", &copy, state.status_bytes, copy.n_slots);
	memset(&copy, 0, sizeof(copy));
	CHECK(ioctl(device, LWK_GET_USAGE, &usage) == 0);
	found += look("usage", &copy, usage.length, usage.cpus);
	printf("found %d\n", found);
	return found > 0;
}
