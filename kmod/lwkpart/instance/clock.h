/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_CLOCK_H
#define LWKPART_CLOCK_H

#include <linux/types.h>

#include "abi/shared/clock.h"

/* The TSC and Linux's monotonic clock at one moment. */
struct clock_reading {
	u64 tsc, ns;
};

/* The last publication, where the LWK cannot change it. */
struct clock_published {
	struct lwk_clock clock;
	struct clock_reading reading;
	unsigned long when; /* jiffies */
};

/* Tells the LWK how Linux's clock goes (struct lwk_clock). One caller at a time. */
void clock_publish(struct lwk_clock *clock, struct clock_published *last);

#endif
