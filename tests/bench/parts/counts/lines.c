// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#define TOP_LINES 16
/* Memory up to 512 GB, in parts of 2 MB. */
#define PART_LINES (1U << 15)
#define PARTS (1U << 18)

struct line {
	uint64_t sharers; /* a bit for each CPU that has the line */
	int32_t owner;	  /* who has modified it, + 1; 0 is nobody */
	uint32_t passes;  /* since MARK_BEGIN */
	uint64_t at;	  /* the instruction that it passed to last */
};

static struct line *directory[PARTS];
static uint64_t passes[LINES_MAX_VCPUS][LINES_MAX_VCPUS];

static struct line *line_at(uint64_t number)
{
	struct line **part = &directory[number / PART_LINES % PARTS];

	if (!*part) {
		*part = calloc(PART_LINES, sizeof(**part));
		if (!*part)
			abort(); /* QEMU itself ends without memory, too. */
	}
	return &(*part)[number % PART_LINES];
}

static void pass(struct line *line, unsigned to, uint64_t at)
{
	passes[line->owner - 1][to]++;
	line->passes++;
	line->at = at;
}

enum line_event line_load(unsigned vcpu, uint64_t number, uint64_t at)
{
	struct line *line = line_at(number);
	uint64_t mine = 1ULL << vcpu;
	enum line_event event = line->owner ? LINE_PASSED : LINE_FETCHED;

	if (line->sharers & mine)
		return LINE_KEPT;
	if (line->owner)
		pass(line, vcpu, at);
	line->owner = 0;
	line->sharers |= mine;
	return event;
}

enum line_event line_store(unsigned vcpu, uint64_t number, uint64_t at)
{
	struct line *line = line_at(number);
	uint64_t mine = 1ULL << vcpu;
	enum line_event event = LINE_KEPT;

	if (line->owner == (int32_t)vcpu + 1)
		return LINE_KEPT;
	if (line->owner) {
		pass(line, vcpu, at);
		event = LINE_PASSED;
	} else if (line->sharers & ~mine) {
		event = LINE_UPGRADED;
	} else if (!line->sharers) {
		event = LINE_FETCHED;
	}
	line->sharers = mine;
	line->owner = (int32_t)vcpu + 1;
	return event;
}

void lines_begin(void)
{
	memset(passes, 0, sizeof(passes));
	for (unsigned part = 0; part < PARTS; part++) {
		for (unsigned i = 0; directory[part] && i < PART_LINES; i++)
			directory[part][i].passes = 0;
	}
}

static void print_passes(FILE *out)
{
	const char *separator = "";

	fputs(",\"passes\":[", out);
	for (int from = 0; from < LINES_MAX_VCPUS; from++) {
		for (int to = 0; to < LINES_MAX_VCPUS; to++) {
			uint64_t n = passes[from][to];

			if (n == 0)
				continue;
			fprintf(out, "%s{\"from\":%d,\"to\":%d,\"n\":%llu}", separator, from, to,
				(unsigned long long)n);
			separator = ",";
		}
	}
	fputs("]", out);
}

/* Keeps the 'TOP_LINES' lines with the most passes, sorted. */
static void insert_line(uint64_t number, const struct line *line, uint64_t numbers[TOP_LINES + 1],
			const struct line *top[TOP_LINES + 1])
{
	int place = TOP_LINES;

	for (; place > 0 && (!top[place - 1] || top[place - 1]->passes < line->passes); place--) {
		top[place] = top[place - 1];
		numbers[place] = numbers[place - 1];
	}
	top[place] = line;
	numbers[place] = number;
}

static void print_lines(FILE *out)
{
	const struct line *top[TOP_LINES + 1] = { NULL };
	uint64_t numbers[TOP_LINES + 1];

	for (uint64_t part = 0; part < PARTS; part++) {
		for (unsigned i = 0; directory[part] && i < PART_LINES; i++) {
			if (directory[part][i].passes)
				insert_line(part * PART_LINES + i, &directory[part][i], numbers,
					    top);
		}
	}
	fputs(",\"lines\":[", out);
	for (int i = 0; i < TOP_LINES && top[i]; i++)
		fprintf(out, "%s{\"address\":\"0x%llx\",\"passes\":%u,\"at\":\"0x%llx\"}",
			i ? "," : "", (unsigned long long)numbers[i] << LINE_SHIFT, top[i]->passes,
			(unsigned long long)top[i]->at);
	fputs("]", out);
}

void lines_print(FILE *out)
{
	print_passes(out);
	print_lines(out);
}

void lines_forget(void)
{
	for (unsigned part = 0; part < PARTS; part++) {
		free(directory[part]);
		directory[part] = NULL;
	}
}
