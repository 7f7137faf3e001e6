// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/memory/attempt.h"

#include <stdlib.h>

#include "base/clock.h"
#include "machine/memory.h"
#include "modeswitch/config.h"
#include "modeswitch/plan.h"

uint64_t bytes_taken(const struct switching *switching)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < switching->n_memory; i++)
		bytes += switching->memory[i].bytes;
	return bytes;
}

int64_t memory_deadline(const struct attempt *attempt)
{
	const struct switching *switching = attempt->switching;
	int64_t timeout = switching->config->switch_timeout_ms, latest;

	if (bytes_taken(switching) < switching->plan->least)
		return switching->deadline;
	latest = switching->deadline - timeout / 4;
	return attempt->last_gain + timeout / 12 < latest ? attempt->last_gain + timeout / 12
							  : latest;
}

bool is_enough(const struct attempt *attempt)
{
	return bytes_taken(attempt->switching) >= attempt->switching->plan->least &&
	       clock_ms() >= memory_deadline(attempt);
}

void gain(struct attempt *attempt, uint64_t bytes, uint64_t *left)
{
	*left -= bytes;
	if (bytes >= memory_block_bytes() / CRUMB)
		attempt->last_gain = clock_ms();
}

int remember_memory(struct switching *switching, const struct ms_lent *lent, struct ms_error *err)
{
	void *more = reallocarray(switching->memory, switching->n_memory + 1,
				  sizeof(*switching->memory));

	if (!more)
		return ms_fail(err, "out of memory");
	switching->memory = more;
	switching->memory[switching->n_memory++] = *lent;
	return 0;
}
