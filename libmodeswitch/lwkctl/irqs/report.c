// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/irqs/report.h"

#include <stdio.h>

#include "base/json.h"
#include "lwkctl/common.h"

#define BAR_WIDTH 40

/* ---- text ---- */

static void print_sources(const struct report *report)
{
	const struct ms_irqs *irqs = &report->now->os;

	printf("%-38s %12s  %s\n", "SOURCE", "PER SECOND", "MOST ON");
	for (size_t i = 0; i < irqs->n_irqs; i++) {
		double sum = 0, most = 0;
		unsigned cpu = 0;
		char name[96];

		for (size_t place = 0; place < irqs->n_cpus; place++) {
			double one = irq_rate(report, &irqs->irqs[i], place);

			sum += one;
			if (one > most) {
				most = one;
				cpu = irqs->cpus[place];
			}
		}
		if (sum == 0)
			continue;
		snprintf(name, sizeof(name), "%s %s", irqs->irqs[i].name, irqs->irqs[i].label);
		printf("%-38.38s %12.1f  CPU %u (%.0f %%)\n", name, sum, cpu, 100 * most / sum);
	}
}

static void print_bar(double devices, double others, double full)
{
	int length = full > 0 ? (devices + others) * BAR_WIDTH / full + 0.5 : 0;
	int of_devices = full > 0 ? devices * BAR_WIDTH / full + 0.5 : 0;

	for (int i = 0; i < length; i++)
		putchar(i < of_devices ? '#' : '+');
	putchar('\n');
}

static void print_cpus(const struct report *report)
{
	const struct ms_irqs *irqs = &report->now->os;
	const struct ms_usage *lwk = &report->now->lwk;
	double full = 0;

	for (size_t i = 0; i < irqs->n_cpus; i++) {
		double one = linux_rate(report, i, true) + linux_rate(report, i, false);

		full = full > one ? full : one;
	}
	for (size_t i = 0; i < lwk->n_cpus; i++)
		full = full > lwk_rate(report, i) ? full : lwk_rate(report, i);
	printf("\n%-10s %10s %10s  # of devices, + others\n", "CPU", "DEVICES", "OTHERS");
	for (size_t i = 0; i < irqs->n_cpus; i++) {
		double devices = linux_rate(report, i, true), others = linux_rate(report, i, false);

		printf("%-10u %10.1f %10.1f  |", irqs->cpus[i], devices, others);
		print_bar(devices, others, full);
	}
	for (size_t i = 0; i < lwk->n_cpus; i++) {
		printf("%-4u LWK   %10.1f %10.1f  |", lwk->cpus[i].cpu, 0.0, lwk_rate(report, i));
		print_bar(0, lwk_rate(report, i), full);
	}
}

static void print_job(const struct report *report)
{
	struct spread now = job_spread(report);
	const struct ms_job *job = report->job;
	char cpus[256];

	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus),
				   is_quiet(report) ? job->linux_cpus : job->lwk_cpus);
	printf("\njob %u, %s on CPUs %s, interrupts of a CPU per second:\n"
	       "  %-28s min %8.1f  max %8.1f  mean %8.1f\n"
	       "  %-28s min %8.1f  max %8.1f  mean %8.1f\n",
	       job->job_id, is_quiet(report) ? "quiet" : "LWK", cpus, "before, from boot, devices'",
	       job->irqs_before.min, job->irqs_before.max, job->irqs_before.mean,
	       is_quiet(report) ? "now, devices'" : "with the LWK, of any kind", now.min, now.max,
	       now.mean);
}

/* ---- JSON ---- */

static struct json_object *cpu_to_json(unsigned cpu, bool lwk, double devices, double others)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "cpu", cpu);
	json_add_flag(object, "lwk", lwk);
	json_add_double(object, "devices", devices);
	json_add_double(object, "others", others);
	return object;
}

static struct json_object *irq_to_json(const struct report *report, const struct ms_irq *irq)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_object();
	char name[16];

	json_add_text(object, "irq", irq->name);
	json_add_text(object, "name", irq->label);
	json_add_flag(object, "device", irq->device);
	for (size_t i = 0; i < report->now->os.n_cpus; i++) {
		snprintf(name, sizeof(name), "%u", report->now->os.cpus[i]);
		json_add_double(cpus, name, irq_rate(report, irq, i));
	}
	json_object_object_add(object, "cpus", cpus);
	return object;
}

static struct json_object *spread_to_json(double min, double max, double mean)
{
	struct json_object *object = json_object_new_object();

	json_add_double(object, "min", min);
	json_add_double(object, "max", max);
	json_add_double(object, "mean", mean);
	return object;
}

static struct json_object *report_to_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_array(), *sources = json_object_new_array();
	const struct ms_irqs *irqs = &report->now->os;
	const struct ms_usage *lwk = &report->now->lwk;

	json_add_double(object, "seconds", report->seconds);
	for (size_t i = 0; i < irqs->n_cpus; i++)
		json_object_array_add(cpus,
				      cpu_to_json(irqs->cpus[i], false, linux_rate(report, i, true),
						  linux_rate(report, i, false)));
	for (size_t i = 0; i < lwk->n_cpus; i++)
		json_object_array_add(cpus,
				      cpu_to_json(lwk->cpus[i].cpu, true, 0, lwk_rate(report, i)));
	for (size_t i = 0; i < irqs->n_irqs; i++)
		json_object_array_add(sources, irq_to_json(report, &irqs->irqs[i]));
	json_object_object_add(object, "cpus", cpus);
	json_object_object_add(object, "sources", sources);
	if (report->job) {
		struct spread now = job_spread(report);
		const struct ms_job *job = report->job;

		json_add_number(object, "job_id", job->job_id);
		json_object_object_add(object, "before",
				       spread_to_json(job->irqs_before.min, job->irqs_before.max,
						      job->irqs_before.mean));
		json_object_object_add(object, "during",
				       spread_to_json(now.min, now.max, now.mean));
	}
	return object;
}

void report_print(const struct report *report, bool json)
{
	if (json) {
		print_json(report_to_json(report));
		return;
	}
	print_sources(report);
	print_cpus(report);
	if (report->job)
		print_job(report);
	fflush(stdout);
}
