// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of each interrupt on each CPU, from /proc/interrupts.
 */
#include "interrupts/counts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"

/* Reads the first line, "           CPU0       CPU1 …", which names the CPUs that are on-line. */
static int read_cpus(const char *line, struct ms_irqs *irqs)
{
	unsigned *more;
	int length;

	for (unsigned cpu; sscanf(line, " CPU%u%n", &cpu, &length) == 1; line += length) {
		more = reallocarray(irqs->cpus, irqs->n_cpus + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		irqs->cpus = more;
		irqs->cpus[irqs->n_cpus++] = cpu;
	}
	return irqs->n_cpus ? 0 : -EPROTO;
}

/* The names of handlers end a line, after two blanks; or a description, after one. */
static void read_label(const char *text, struct ms_irq *irq)
{
	const char *at;

	text += strspn(text, " ");
	while (irq->device && (at = strstr(text, "  ")))
		text = at + strspn(at, " ");
	snprintf(irq->label, sizeof(irq->label), "%.*s", (int)strcspn(text, "\n"), text);
}

/* The result of reading one line. */
enum line_result {
	LINE_READ,
	LINE_LEFT_OUT, /* the line has no count for each CPU */
	LINE_NO_MEMORY,
};

/* Reads a line like "  43:        859          0 …  PCI-MSI 16385-edge      virtio0-input.0". */
static enum line_result read_irq(const char *line, size_t n_cpus, struct ms_irq *irq)
{
	int length = 0; /* it stays 0 when no colon follows the name */

	if (sscanf(line, " %15[^: ]:%n", irq->name, &length) != 1 || !length)
		return LINE_LEFT_OUT;
	irq->device = isdigit((unsigned char)*irq->name);
	irq->counts = calloc(n_cpus, sizeof(*irq->counts));
	if (!irq->counts)
		return LINE_NO_MEMORY;
	line += length;
	for (size_t i = 0; i < n_cpus; i++) {
		char *end;

		irq->counts[i] = strtoull(line, &end, 10);
		/* Some lines have a single number for all CPUs. */
		if (end == line) {
			free(irq->counts);
			return LINE_LEFT_OUT;
		}
		line = end;
	}
	read_label(line, irq);
	return LINE_READ;
}

static int add_line(const char *line, struct ms_irqs *irqs)
{
	struct ms_irq *more = reallocarray(irqs->irqs, irqs->n_irqs + 1, sizeof(*more));
	enum line_result result;

	if (!more)
		return -ENOMEM;
	irqs->irqs = more;
	result = read_irq(line, irqs->n_cpus, &more[irqs->n_irqs]);
	irqs->n_irqs += result == LINE_READ;
	return result == LINE_NO_MEMORY ? -ENOMEM : 0;
}

int ms_irqs_read(struct ms_irqs *irqs, struct ms_error *err)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	int error = 0;
	FILE *file;

	*irqs = (struct ms_irqs){ .when_us = clock_us() };
	snprintf(path, sizeof(path), "%s/proc/interrupts", files_root);
	file = fopen(path, "re");
	if (!file)
		return ms_fail(err, "%s: %m", path);
	while (!error && getline(&line, &size, file) > 0)
		error = irqs->n_cpus ? add_line(line, irqs) : read_cpus(line, irqs);
	free(line);
	fclose(file);
	if (!error && irqs->n_cpus)
		return 0;
	ms_irqs_release(irqs);
	return ms_fail(err, "%s: %s", path,
		       error == -ENOMEM ? "out of memory"
					: "expected a line of CPUs, found something else");
}

void ms_irqs_release(struct ms_irqs *irqs)
{
	for (size_t i = 0; i < irqs->n_irqs; i++)
		free(irqs->irqs[i].counts);
	free(irqs->irqs);
	free(irqs->cpus);
	*irqs = (struct ms_irqs){ 0 };
}

uint64_t ms_irqs_of_cpu(const struct ms_irqs *irqs, unsigned cpu, bool devices)
{
	uint64_t sum = 0;

	for (size_t place = 0; place < irqs->n_cpus; place++) {
		if (irqs->cpus[place] != cpu)
			continue;
		for (size_t i = 0; i < irqs->n_irqs; i++) {
			if (irqs->irqs[i].device == devices)
				sum += irqs->irqs[i].counts[place];
		}
	}
	return sum;
}

void interrupts_measure(hwloc_const_bitmap_t cpus, struct ms_irq_spread *spread)
{
	struct ms_error ignored;
	struct ms_irqs irqs;
	int cpu;

	*spread = (struct ms_irq_spread){ 0 };
	if (ms_irqs_read(&irqs, &ignored) < 0)
		return;
	hwloc_bitmap_foreach_begin(cpu, cpus) {
		double one = ms_irqs_of_cpu(&irqs, cpu, true) * 1e6 / irqs.when_us;

		if (cpu == hwloc_bitmap_first(cpus) || one < spread->min)
			spread->min = one;
		if (one > spread->max)
			spread->max = one;
		spread->mean += one / hwloc_bitmap_weight(cpus);
	}
	hwloc_bitmap_foreach_end();
	ms_irqs_release(&irqs);
}
