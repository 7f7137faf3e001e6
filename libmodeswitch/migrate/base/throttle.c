// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/base/throttle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/files.h"
#include "migrate/base/context.h"

#define NS_PER_MS 1000000LL
#define NS_PER_SECOND 1000000000LL
/* Unused time counts for so long: there is no rush after a pause. */
#define CREDIT_NS (250 * NS_PER_MS)
/* No single sleep is longer, so that a stop is noticed. */
#define NAP_NS (100 * NS_PER_MS)
/* Programs are disturbed when they wait for a CPU for more than this share of the time. */
#define PRESSURE_LIMIT 0.1
#define LEAST_PRESSURE_FACTOR 0.125

/* Microseconds in which some program waited for a CPU; -1 when the kernel does not say. */
static int64_t read_stalled(void)
{
	char text[512];
	const char *total;

	if (kernel_read(text, sizeof(text), "/proc/pressure/cpu") < 0)
		return -1;
	total = strstr(text, "total=");
	return total ? strtoll(total + strlen("total="), NULL, 10) : -1;
}

void throttle_init(struct throttle *throttle, const struct ms_migrate_request *request)
{
	*throttle = (struct throttle){
		.cpu_share = request->cpu_percent / 100,
		.pressure = 1,
		.bandwidth = request->bandwidth,
		.cpu_due = clock_ns(),
		.bandwidth_due = clock_ns(),
		.cpu_seen = thread_cpu_ns(),
		.stalled = read_stalled(),
		.stalled_at = clock_ns(),
	};
}

void throttle_heed_pressure(struct throttle *throttle)
{
	int64_t stalled = read_stalled(), now = clock_ns();
	double share;

	if (stalled < 0 || throttle->stalled < 0 || now - throttle->stalled_at < CREDIT_NS)
		return;
	share = (double)(stalled - throttle->stalled) * 1000 / (now - throttle->stalled_at);
	throttle->pressure *= share > PRESSURE_LIMIT ? 0.5 : 1.25;
	if (throttle->pressure > 1)
		throttle->pressure = 1;
	if (throttle->pressure < LEAST_PRESSURE_FACTOR)
		throttle->pressure = LEAST_PRESSURE_FACTOR;
	throttle->stalled = stalled;
	throttle->stalled_at = now;
}

static int64_t advance(int64_t due, int64_t by, int64_t now)
{
	due += by;
	return due < now - CREDIT_NS ? now - CREDIT_NS : due;
}

/* Enters the work done since the last call; returns the time at which the limits allow it. */
static int64_t next_due(struct throttle *throttle, uint64_t bytes, int64_t now)
{
	int64_t cpu = thread_cpu_ns(), due = now;

	if (throttle->cpu_share > 0) {
		throttle->cpu_due = advance(throttle->cpu_due,
					    (cpu - throttle->cpu_seen) /
						    (throttle->cpu_share * throttle->pressure),
					    now);
		due = throttle->cpu_due > due ? throttle->cpu_due : due;
	}
	throttle->cpu_seen = cpu;
	if (throttle->bandwidth) {
		throttle->bandwidth_due =
			advance(throttle->bandwidth_due,
				(double)bytes * NS_PER_SECOND / throttle->bandwidth, now);
		due = throttle->bandwidth_due > due ? throttle->bandwidth_due : due;
	}
	return due;
}

bool throttle_wait(struct migration *migration, uint64_t bytes, unsigned ms)
{
	int64_t now = clock_ns(), until = now + ms * NS_PER_MS;
	int64_t due = next_due(&migration->throttle, bytes, now);

	until = due > until ? due : until;
	while (!migration_stopped(migration)) {
		struct timespec nap;
		int64_t left = until - clock_ns();

		migration_tell(migration);
		if (left <= 0)
			return true;
		left = left > NAP_NS ? NAP_NS : left;
		nap = (struct timespec){ .tv_nsec = left };
		nanosleep(&nap, NULL);
	}
	return false;
}
