// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/irqs/rates.h"

#include <string.h>

static const struct ms_irq *find_irq(const struct ms_irqs *irqs, const char *name)
{
	for (size_t i = 0; i < irqs->n_irqs; i++) {
		if (strcmp(irqs->irqs[i].name, name) == 0)
			return &irqs->irqs[i];
	}
	return NULL;
}

/* A CPU that comes or goes changes the places of others, so the CPU's number is looked up. */
static uint64_t count_before(const struct report *report, const struct ms_irq *irq, unsigned cpu)
{
	const struct ms_irqs *irqs = report->before ? &report->before->os : NULL;
	const struct ms_irq *was = irqs ? find_irq(irqs, irq->name) : NULL;

	for (size_t i = 0; was && i < irqs->n_cpus; i++) {
		if (irqs->cpus[i] == cpu)
			return was->counts[i];
	}
	return 0;
}

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

double irq_rate(const struct report *report, const struct ms_irq *irq, size_t place)
{
	return rate(irq->counts[place], count_before(report, irq, report->now->os.cpus[place]),
		    report->seconds);
}

double linux_rate(const struct report *report, size_t place, bool devices)
{
	const struct ms_irqs *irqs = &report->now->os;
	double sum = 0;

	for (size_t i = 0; i < irqs->n_irqs; i++) {
		if (irqs->irqs[i].device == devices)
			sum += irq_rate(report, &irqs->irqs[i], place);
	}
	return sum;
}

static uint64_t lwk_count(const struct ms_cpu_usage *cpu)
{
	uint64_t sum = 0;

	for (int i = 0; i < MS_INTERRUPTS; i++)
		sum += cpu->counts.interrupts[i];
	return sum;
}

double lwk_rate(const struct report *report, size_t place)
{
	const struct ms_usage *before = report->before ? &report->before->lwk : NULL;
	uint64_t was = before && place < before->n_cpus ? lwk_count(&before->cpus[place]) : 0;
	double seconds = report->seconds;

	/* The LWK's counts begin when it boots. */
	if (!before && ms_job_age(report->job) > 0)
		seconds = ms_job_age(report->job);
	return rate(lwk_count(&report->now->lwk.cpus[place]), was, seconds);
}

bool is_quiet(const struct report *report)
{
	return report->job->state == MS_JOB_QUIET;
}

static void add_to_spread(struct spread *spread, size_t n, double one)
{
	spread->min = n && spread->min < one ? spread->min : one;
	spread->max = spread->max > one ? spread->max : one;
	spread->mean = (spread->mean * n + one) / (n + 1);
}

static struct spread lwk_spread(const struct report *report)
{
	struct spread spread = { 0 };

	for (size_t i = 0; i < report->now->lwk.n_cpus; i++)
		add_to_spread(&spread, i, lwk_rate(report, i));
	return spread;
}

static struct spread quiet_spread(const struct report *report)
{
	const struct ms_irqs *irqs = &report->now->os;
	struct spread spread = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < irqs->n_cpus; i++) {
		if (hwloc_bitmap_isset(report->job->linux_cpus, irqs->cpus[i]))
			add_to_spread(&spread, n++, linux_rate(report, i, true));
	}
	return spread;
}

struct spread job_spread(const struct report *report)
{
	return is_quiet(report) ? quiet_spread(report) : lwk_spread(report);
}
