// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws a plan with lines and letters: for each group of cores with the same NUMA nodes a row of
 * boxes, and under it a bar for the memory of each node.
 */
#include "lwkctl/drawing/drawing.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR 32
#define WIDTH 76

struct look {
	char letter;
	const char *colour; /* SGR parameters */
	const char *text;
};

static const struct look looks[N_ROLES] = {
	[ROLE_OTHER] = { '.', "2", "not the job's" },
	[ROLE_SYSTEM] = { 'O', "97;44", "OS CPU" },
	[ROLE_LINUX] = { 'L', "30;46", "job's, stays with Linux" },
	[ROLE_LWK] = { 'W', "30;42", "LWK" },
	[ROLE_IDLE] = { '-', "30;43", "goes with the LWK and idles" },
	[ROLE_LENT] = { 'x', "30;45", "lent to another job's LWK" },
};

/* The characters of a drawing. */
struct style {
	const char *across, *down;
	const char *top[3], *bottom[3]; /* left, middle, right */
	const char *full, *empty;
	bool colour;
};

static const struct style unicode = { "─", "│",	 { "┌", "┬", "┐" }, { "└", "┴", "┘" }, "█",
				      "░", false };
static const struct style ascii = {
	"-", "|", { "+", "+", "+" }, { "+", "+", "+" }, "#", ".", false
};

enum role drawing_role(const struct drawing *drawing, unsigned cpu)
{
	const struct ms_plan *plan = drawing->plan;

	if (hwloc_bitmap_isset(plan->idle_cpus, cpu))
		return ROLE_IDLE;
	if (hwloc_bitmap_isset(plan->lwk_cpus, cpu))
		return ROLE_LWK;
	if (hwloc_bitmap_isset(drawing->config->os_cpus, cpu))
		return ROLE_SYSTEM;
	if (hwloc_bitmap_isset(plan->linux_cpus, cpu))
		return ROLE_LINUX;
	return hwloc_bitmap_isset(drawing->lent, cpu) ? ROLE_LENT : ROLE_OTHER;
}

const char *drawing_role_text(enum role role)
{
	return looks[role].text;
}

uint64_t drawing_bytes(const struct drawing *drawing, unsigned node)
{
	for (size_t i = 0; i < drawing->plan->n_memory; i++) {
		if (drawing->plan->memory[i].node == node)
			return drawing->plan->memory[i].bytes;
	}
	return 0;
}

/* A box is a core, or a hardware thread where the topology has no cores. */
static hwloc_obj_type_t box_type(hwloc_topology_t topology)
{
	return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE
								      : HWLOC_OBJ_PU;
}

/* Prints one of the three lines of a row: top, letters (edge is NULL) or bottom. */
static void print_line(const struct drawing *drawing, const struct style *style, FILE *out,
		       hwloc_obj_t *boxes, size_t n, const char *const edge[3])
{
	fputs("  ", out);
	for (size_t i = 0; i < n; i++) {
		int cpu;

		fputs(edge ? edge[i ? 1 : 0] : style->down, out);
		hwloc_bitmap_foreach_begin(cpu, boxes[i]->cpuset) {
			const struct look *look = &looks[drawing_role(drawing, cpu)];

			if (edge)
				fputs(style->across, out);
			else if (style->colour)
				fprintf(out, "\033[%sm%c\033[0m", look->colour, look->letter);
			else
				fputc(look->letter, out);
		}
		hwloc_bitmap_foreach_end();
	}
	fprintf(out, "%s\n", edge ? edge[2] : style->down);
}

static void print_row(const struct drawing *drawing, const struct style *style, FILE *out,
		      hwloc_obj_t *boxes, size_t n)
{
	print_line(drawing, style, out, boxes, n, style->top);
	print_line(drawing, style, out, boxes, n, NULL);
	print_line(drawing, style, out, boxes, n, style->bottom);
}

/* Prints the boxes in as many rows as WIDTH requires. */
static void print_boxes(const struct drawing *drawing, const struct style *style, FILE *out,
			hwloc_obj_t *boxes, size_t n)
{
	size_t first = 0, width = 3;

	for (size_t i = 0; i < n; i++) {
		size_t wide = hwloc_bitmap_weight(boxes[i]->cpuset) + 1;

		if (i > first && width + wide > WIDTH) {
			print_row(drawing, style, out, boxes + first, i - first);
			first = i;
			width = 3;
		}
		width += wide;
	}
	print_row(drawing, style, out, boxes + first, n - first);
}

static bool is_system(const struct drawing *drawing, unsigned node)
{
	for (size_t i = 0; i < drawing->plan->n_memory; i++) {
		if (drawing->plan->memory[i].node == node)
			return drawing->plan->memory[i].system;
	}
	return false;
}

static void print_node(const struct drawing *drawing, const struct style *style, FILE *out,
		       hwloc_obj_t node)
{
	uint64_t has = node->attr->numanode.local_memory;
	uint64_t gives = drawing_bytes(drawing, node->os_index);
	unsigned full = has >= BAR ? gives / (has / BAR) : 0;

	/* The least share fills one character, and only all of the memory fills the bar. */
	if (gives && !full)
		full = 1;
	if (full >= BAR && gives < has)
		full = BAR - 1;
	if (full > BAR)
		full = BAR;
	fprintf(out, "  node %-3u ", node->os_index);
	if (style->colour)
		fputs("\033[32m", out);
	for (unsigned i = 0; i < BAR; i++)
		fputs(i < full ? style->full : style->empty, out);
	if (style->colour)
		fputs("\033[0m", out);
	fprintf(out, " %ju of %ju MB%s%s%s\n", (uintmax_t)(gives >> 20), (uintmax_t)(has >> 20),
		node->subtype ? ", " : "", node->subtype ? node->subtype : "",
		is_system(drawing, node->os_index) ? ", the system's" : "");
}

static void print_nodes(const struct drawing *drawing, const struct style *style, FILE *out,
			hwloc_const_bitmap_t nodes, hwloc_bitmap_t printed)
{
	hwloc_obj_t node = NULL;

	while ((node = hwloc_get_next_obj_by_type(drawing->topology, HWLOC_OBJ_NUMANODE, node))) {
		if (!hwloc_bitmap_isset(nodes, node->os_index) ||
		    hwloc_bitmap_isset(printed, node->os_index))
			continue;
		hwloc_bitmap_set(printed, node->os_index);
		print_node(drawing, style, out, node);
	}
}

static void print_group(const struct drawing *drawing, const struct style *style, FILE *out,
			hwloc_obj_t *boxes, size_t n, hwloc_bitmap_t printed)
{
	hwloc_obj_t package =
		hwloc_get_ancestor_obj_by_type(drawing->topology, HWLOC_OBJ_PACKAGE, boxes[0]);
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	char list[256];

	for (size_t i = 0; i < n; i++)
		hwloc_bitmap_or(cpus, cpus, boxes[i]->cpuset);
	hwloc_bitmap_list_snprintf(list, sizeof(list), cpus);
	hwloc_bitmap_free(cpus);
	if (package)
		fprintf(out, "package %d, ", (int)package->os_index);
	fprintf(out, "CPUs %s\n", list);
	print_boxes(drawing, style, out, boxes, n);
	print_nodes(drawing, style, out, boxes[0]->nodeset, printed);
}

static void print_legend(const struct drawing *drawing, const struct style *style, FILE *out)
{
	bool used[N_ROLES] = { false };
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(drawing->topology, HWLOC_OBJ_PU, pu)))
		used[drawing_role(drawing, pu->os_index)] = true;
	for (unsigned role = 0; role < N_ROLES; role++) {
		const struct look *look = &looks[role];

		if (!used[role])
			continue;
		if (style->colour)
			fprintf(out, "  \033[%sm%c\033[0m %s", look->colour, look->letter,
				look->text);
		else
			fprintf(out, "  %c %s", look->letter, look->text);
	}
	fprintf(out, "\n");
}

void drawing_print(const struct drawing *drawing, FILE *out)
{
	struct style style = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? unicode : ascii;
	hwloc_obj_type_t type = box_type(drawing->topology);
	size_t n = hwloc_get_nbobjs_by_type(drawing->topology, type), first = 0;
	hwloc_obj_t *boxes = calloc(n, sizeof(hwloc_obj_t));
	hwloc_bitmap_t printed = hwloc_bitmap_alloc();
	const char *term = getenv("TERM");

	style.colour = isatty(fileno(out)) && !getenv("NO_COLOR") && term && strcmp(term, "dumb");
	for (size_t i = 0; boxes && i < n; i++) {
		boxes[i] = hwloc_get_obj_by_type(drawing->topology, type, i);
		if (i && (!hwloc_bitmap_isequal(boxes[i]->nodeset, boxes[first]->nodeset) ||
			  hwloc_get_ancestor_obj_by_type(drawing->topology, HWLOC_OBJ_PACKAGE,
							 boxes[i]) !=
				  hwloc_get_ancestor_obj_by_type(
					  drawing->topology, HWLOC_OBJ_PACKAGE, boxes[first]))) {
			print_group(drawing, &style, out, boxes + first, i - first, printed);
			first = i;
		}
	}
	if (boxes)
		print_group(drawing, &style, out, boxes + first, n - first, printed);
	/* The nodes without a local CPU come last. */
	print_nodes(drawing, &style, out, hwloc_topology_get_topology_nodeset(drawing->topology),
		    printed);
	print_legend(drawing, &style, out);
	hwloc_bitmap_free(printed);
	free(boxes);
}
