// SPDX-License-Identifier: GPL-2.0-or-later
#include "interrupts/steer.h"

#include <stdbool.h>
#include <stdlib.h>

/* An interrupt with less, or a change that gains less, is not worth a move. */
#define MIN_RATE 1.0  /* interrupts per second */
#define MIN_GAIN 0.02 /* of the square of the interrupts that each CPU should get */

/* The CPUs that share, and how many interrupts each will have had. */
struct shares {
	const struct steer_cpus *cpus;
	hwloc_const_bitmap_t set;
	double *load; /* by CPU number, up to the last of 'set'; above 'base' */
	double base;  /* the fewest that one of them has had */
};

static void stay_or_move(const struct steer_cpus *cpus, hwloc_const_bitmap_t quieter,
			 hwloc_const_bitmap_t targets, struct steer_irq *irq)
{
	hwloc_bitmap_copy(irq->to, irq->now);
	if (!hwloc_bitmap_intersects(irq->was, cpus->quiet)) {
		hwloc_bitmap_copy(irq->to, irq->was);
		return;
	}
	if (hwloc_bitmap_isincluded(irq->now, quieter))
		return;
	hwloc_bitmap_and(irq->to, irq->near, targets);
	if (hwloc_bitmap_iszero(irq->to))
		hwloc_bitmap_copy(irq->to, targets);
}

/* ---- sharing ---- */

static double carried(const struct steer_cpus *cpus, unsigned cpu)
{
	return cpu < cpus->n_carried ? cpus->carried[cpu] : 0;
}

static void reset_load(struct shares *shares)
{
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, shares->set)
		shares->load[cpu] = carried(shares->cpus, cpu) - shares->base;
	hwloc_bitmap_foreach_end();
}

/* The sum of the squared loads: the less even the loads, the larger it is. */
static double unevenness(const struct shares *shares)
{
	double sum = 0;
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, shares->set)
		sum += shares->load[cpu] * shares->load[cpu];
	hwloc_bitmap_foreach_end();
	return sum;
}

/* The only CPU of the interrupt, if it shares; else -1. */
static int own_cpu(const struct shares *shares, const struct steer_irq *irq)
{
	int cpu = hwloc_bitmap_first(irq->now);

	return hwloc_bitmap_weight(irq->now) == 1 && hwloc_bitmap_isset(shares->set, cpu) ? cpu
											  : -1;
}

/* The CPU with the least load: its own before one near the device, before the first. */
static int best_cpu(const struct shares *shares, const struct steer_irq *irq)
{
	int best = own_cpu(shares, irq), cpu;

	hwloc_bitmap_foreach_begin(cpu, shares->set) {
		if (best < 0 || shares->load[cpu] < shares->load[best] ||
		    (shares->load[cpu] == shares->load[best] && best != own_cpu(shares, irq) &&
		     hwloc_bitmap_isset(irq->near, cpu) && !hwloc_bitmap_isset(irq->near, best)))
			best = cpu;
	}
	hwloc_bitmap_foreach_end();
	return best;
}

static bool is_moved(const struct steer_cpus *cpus, const struct steer_irq *irq)
{
	return hwloc_bitmap_intersects(irq->was, cpus->quiet) && irq->rate >= MIN_RATE;
}

static int compare_rates(const void *a, const void *b)
{
	const struct steer_irq *x = *(struct steer_irq *const *)a,
			       *y = *(struct steer_irq *const *)b;

	/* Equal rates keep their order, so that such interrupts do not change places. */
	return x->rate != y->rate ? (x->rate < y->rate) - (x->rate > y->rate) : (x > y) - (x < y);
}

/* The unevenness if nothing moves; -1: an interrupt has no CPU of its own yet. */
static double present_unevenness(struct shares *shares, struct steer_irq **moved, size_t n)
{
	reset_load(shares);
	for (size_t i = 0; i < n; i++) {
		int cpu = own_cpu(shares, moved[i]);

		if (cpu < 0)
			return -1;
		shares->load[cpu] += moved[i]->rate * shares->cpus->horizon;
	}
	return unevenness(shares);
}

static double place(struct shares *shares, struct steer_irq **moved, size_t n)
{
	reset_load(shares);
	for (size_t i = 0; i < n; i++) {
		int cpu = best_cpu(shares, moved[i]);

		hwloc_bitmap_only(moved[i]->to, cpu);
		shares->load[cpu] += moved[i]->rate * shares->cpus->horizon;
	}
	return unevenness(shares);
}

/* True when the gain is large enough to move interrupts. */
static bool is_worth_it(const struct shares *shares, struct steer_irq **moved, size_t n,
			double gain)
{
	unsigned n_cpus = hwloc_bitmap_weight(shares->set);
	double share = 0;

	for (size_t i = 0; i < n; i++)
		share += moved[i]->rate * shares->cpus->horizon;
	share /= n_cpus;
	return gain > MIN_GAIN * n_cpus * share * share;
}

static double least_carried(const struct shares *shares)
{
	double least = carried(shares->cpus, hwloc_bitmap_first(shares->set));
	int cpu;

	hwloc_bitmap_foreach_begin(cpu, shares->set) {
		double one = carried(shares->cpus, cpu);

		least = one < least ? one : least;
	}
	hwloc_bitmap_foreach_end();
	return least;
}

static void share(struct shares *shares, struct steer_irq **moved, size_t n)
{
	double present, best;

	shares->base = least_carried(shares);
	qsort(moved, n, sizeof(*moved), compare_rates);
	present = present_unevenness(shares, moved, n);
	best = place(shares, moved, n);
	if (present < 0 || is_worth_it(shares, moved, n, present - best))
		return;
	for (size_t i = 0; i < n; i++)
		hwloc_bitmap_copy(moved[i]->to, moved[i]->now);
}

/* The CPUs of no other job share, if there are any; else all. */
static void find_shares(const struct steer_cpus *cpus, hwloc_bitmap_t set)
{
	hwloc_bitmap_andnot(set, cpus->online, cpus->busy);
	hwloc_bitmap_or(set, set, cpus->quiet);
	hwloc_bitmap_and(set, set, cpus->online);
	if (hwloc_bitmap_iszero(set))
		hwloc_bitmap_copy(set, cpus->online);
}

static void spread(const struct steer_cpus *cpus, hwloc_bitmap_t set, struct steer_irq *irqs,
		   size_t n)
{
	struct shares shares = { .cpus = cpus, .set = set };
	struct steer_irq **moved = calloc(n + 1, sizeof(*moved));
	size_t n_moved = 0;

	find_shares(cpus, set);
	shares.load = calloc(hwloc_bitmap_last(set) + 1, sizeof(*shares.load));
	for (size_t i = 0; i < n; i++) {
		bool stays = hwloc_bitmap_intersects(irqs[i].was, cpus->quiet);

		hwloc_bitmap_copy(irqs[i].to, stays ? irqs[i].now : irqs[i].was);
		if (moved && is_moved(cpus, &irqs[i]))
			moved[n_moved++] = &irqs[i];
	}
	if (n_moved && shares.load)
		share(&shares, moved, n_moved);
	free(shares.load);
	free(moved);
}

enum steer_place steer_decide(const struct steer_cpus *cpus, struct steer_irq *irqs, size_t n)
{
	hwloc_bitmap_t spare = hwloc_bitmap_alloc(), os = hwloc_bitmap_alloc();
	hwloc_bitmap_t quieter = hwloc_bitmap_alloc();
	enum steer_place found = STEER_SPREAD;

	if (!spare || !os || !quieter) {
		for (size_t i = 0; i < n; i++)
			hwloc_bitmap_copy(irqs[i].to, irqs[i].now);
		goto out;
	}
	hwloc_bitmap_andnot(quieter, cpus->online, cpus->quiet);
	hwloc_bitmap_and(os, quieter, cpus->os);
	hwloc_bitmap_andnot(spare, quieter, cpus->busy);
	hwloc_bitmap_andnot(spare, spare, cpus->os);
	hwloc_bitmap_or(quieter, spare, os);
	found = !hwloc_bitmap_iszero(spare) ? STEER_FREE
		: !hwloc_bitmap_iszero(os)  ? STEER_OS
					    : STEER_SPREAD;
	if (found == STEER_SPREAD)
		spread(cpus, spare, irqs, n);
	else
		for (size_t i = 0; i < n; i++)
			stay_or_move(cpus, quieter, found == STEER_FREE ? spare : os, &irqs[i]);
out:
	hwloc_bitmap_free(spare);
	hwloc_bitmap_free(os);
	hwloc_bitmap_free(quieter);
	return found;
}
