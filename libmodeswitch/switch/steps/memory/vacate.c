// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/memory/vacate.h"

#include <hwloc.h>
#include <syslog.h>

#include "base/clock.h"
#include "base/files.h"
#include "migrate/home/away_list.h"
#include "modeswitch/config.h"
#include "modeswitch/migrate.h"
#include "modeswitch/plan.h"
#include "store/times.h"
#include "switch/steps/table.h"

struct vacating {
	struct attempt *attempt;
	unsigned node;
	int64_t until; /* clock_ms() */
};

/* The share of the time for vacating that a process may keep the search for pages waiting. */
#define PATIENCE_SHARE 4

static int keep_found(const struct migration *migration, void *context, struct ms_error *err)
{
	const struct vacating *vacating = context;

	if (!vacating->attempt->switching->config->rehome)
		return 0;
	return away_list_add(migration, vacating->attempt->switching->job_id, vacating->node, err);
}

static bool must_stop_vacating(void *context)
{
	const struct vacating *vacating = context;
	struct ms_error ignored;

	return switching_may_go_on(vacating->attempt->switching, &ignored) < 0 ||
	       vacating->attempt->no_room || is_enough(vacating->attempt) ||
	       clock_ms() >= vacating->until;
}

/* Keeps in 'nodes' those that give this LWK nothing; all but this one if there are none. */
static void choose_refuge(const struct vacating *vacating, hwloc_bitmap_t nodes)
{
	const struct ms_plan *plan = vacating->attempt->switching->plan;
	hwloc_bitmap_t others = hwloc_bitmap_dup(nodes);

	hwloc_bitmap_clr(nodes, vacating->node);
	for (size_t i = 0; others && i < plan->n_memory; i++) {
		if (plan->memory[i].bytes)
			hwloc_bitmap_clr(others, plan->memory[i].node);
	}
	if (others && !hwloc_bitmap_iszero(others))
		hwloc_bitmap_and(nodes, nodes, others);
	hwloc_bitmap_free(others);
}

void vacate(struct attempt *attempt, unsigned node, const struct migrate_range *ranges, size_t n)
{
	struct switching *switching = attempt->switching;
	const struct ms_config *config = switching->config;
	struct vacating context = { .attempt = attempt, .node = node };
	struct migrate_vacating vacating = {
		.ranges = ranges, .n = n, .found = keep_found, .context = &context
	};
	hwloc_bitmap_t from = hwloc_bitmap_alloc(), to = hwloc_bitmap_alloc();
	struct ms_migrate_request request = {
		.from = from,
		.to = to,
		.method = MS_PERIODICAL,
		.sleep_ms = 0,
		.cpu_percent = config->vacate_cpu < 100 ? config->vacate_cpu : 0,
		.bandwidth = config->vacate_rate,
		.stop = must_stop_vacating,
		.context = &context,
	};
	struct ms_migrate_state state = { 0 };
	struct ms_error err = { "" };
	int64_t half = (switching->deadline - clock_ms()) / 2;
	int ret = -1;

	/* The other half of the time is for taking blocks, where Linux moves pages faster. */
	context.until = clock_ms() + half;
	times_lap(switching->times, step_memory.name);
	if (!attempt->held_up && from && to &&
	    kernel_read_list(to, "/sys/devices/system/node/has_memory") == 0) {
		hwloc_bitmap_set(from, node);
		choose_refuge(&context, to);
		if (!hwloc_bitmap_iszero(to))
			ret = migrate_vacate(&request, &vacating,
					     half > 0 ? half / PATIENCE_SHARE : 0, &state, &err);
		attempt->held_up = ret == -ETIMEDOUT;
		if (ret == 0 && clock_ms() >= context.until)
			ms_fail(&err, "half of the time for the switch is over");
		if (*err.text)
			syslog(LOG_DAEMON | LOG_NOTICE,
			       "slurm-lwk: job %u: memory that programs have on NUMA node %u is "
			       "left to Linux to move, without VacateCpu=: %s",
			       switching->job_id, node, err.text);
	}
	switching->vacated += state.moved;
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(to);
	times_lap(switching->times, "vacate");
}
