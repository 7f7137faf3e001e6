// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawings of plans. */
#include "unit/machine.h"

#include <locale.h>

#include "lwkctl/drawing/drawing.h"

static const char *const machines[] = {
	"a64fx.xml",	     "epyc-7451-8n.xml",      "hidden-nodes.xml",
	"knl-snc4-flat.xml", "node-without-cpus.xml", "offline-threads.xml",
	"xeon-2s-smt.xml",
};

static struct drawing drawing_of(const struct machine *m, hwloc_bitmap_t lent)
{
	return (struct drawing){
		.topology = m->topology, .config = m->config, .plan = m->plan, .lent = lent
	};
}

/* Returns the output of drawing_print(); free() it. */
static char *print(const struct drawing *drawing)
{
	const char *path = unit_file("drawing.txt", "%s", "");
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	drawing_print(drawing, file);
	assert_int_equal(fclose(file), 0);
	return strdup(unit_read("drawing.txt"));
}

static void in_letters(void **state)
{
	hwloc_bitmap_t lent = hwloc_bitmap_alloc();
	struct drawing drawing;
	struct machine m;
	char *text;

	machine_make(&m, "pack:2 [numa(memory=2147483648)] core:4 pu:2");
	m.request.one_per_core = true;
	hwloc_bitmap_set_range(lent, 2, 3);
	assert_int_equal(plan(&m, "8-13", GB), 0);
	drawing = drawing_of(&m, lent);
	setlocale(LC_CTYPE, "C");
	text = print(&drawing);
	assert_string_equal(text, "package 0, CPUs 0-7\n"
				  "  +--+--+--+--+\n"
				  "  |O.|xx|..|..|\n"
				  "  +--+--+--+--+\n"
				  "  node 0   ................................ 0 of 2048 MB, "
				  "the system's\n"
				  "package 1, CPUs 8-15\n"
				  "  +--+--+--+--+\n"
				  "  |LL|W-|W-|..|\n"
				  "  +--+--+--+--+\n"
				  "  node 1   ###############................. 960 of 2048 MB\n"
				  "  . not the job's  O OS CPU  L job's, stays with Linux  W LWK  "
				  "- goes with the LWK and idles  x lent to another job's LWK\n");
	free(text);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	text = print(&drawing);
	assert_has(text, "  ┌──┬──┬──┬──┐\n  │LL│W-│W-│..│\n  └──┴──┴──┴──┘\n");
	assert_has(text, "  node 1   ███████████████░░░░░░░░░░░░░░░░░ 960 of 2048 MB\n");
	free(text);
	hwloc_bitmap_free(lent);
	machine_free(&m);
}

/* On every machine each CPU has a letter, each NUMA node a bar, and no line is too long. */
static void every_machine(void **state)
{
	setlocale(LC_CTYPE, "C");
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		hwloc_bitmap_t lent = hwloc_bitmap_alloc();
		struct drawing drawing;
		struct machine m;
		size_t letters = 0, bars = 0;
		char *text, *rest, *line;

		machine_load(&m, machines[i]);
		/* An empty plan can be drawn. */
		m.plan = calloc(1, sizeof(*m.plan));
		m.plan->lwk_cpus = hwloc_bitmap_alloc();
		m.plan->idle_cpus = hwloc_bitmap_alloc();
		m.plan->linux_cpus = hwloc_bitmap_alloc();
		drawing = drawing_of(&m, lent);
		text = rest = print(&drawing);
		while ((line = strsep(&rest, "\n"))) {
			assert_true(strlen(line) <= 80);
			bars += strncmp(line, "  node ", 7) == 0;
			for (const char *c = line; strncmp(line, "  |", 3) == 0 && *c; c++)
				letters += *c == 'O' || *c == '.';
		}
		assert_int_equal(letters, hwloc_get_nbobjs_by_type(m.topology, HWLOC_OBJ_PU));
		assert_int_equal(bars, hwloc_get_nbobjs_by_type(m.topology, HWLOC_OBJ_NUMANODE));
		free(text);
		hwloc_bitmap_free(lent);
		machine_free(&m);
	}
}

/* The number of lines of the file that have 'part' in them. */
static size_t count(const char *path, const char *part)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size, n = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0)
		n += strstr(line, part) != NULL;
	free(line);
	fclose(file);
	return n;
}

/* This test needs hwloc's lstopo (contrib/install-dependencies). */
static void as_svg(void **state)
{
	hwloc_bitmap_t lent = hwloc_bitmap_alloc();
	struct drawing drawing;
	struct machine m;
	char path[128];

	snprintf(path, sizeof(path), "%s/plan.svg", unit_dir);
	machine_load(&m, "xeon-2s-smt.xml");
	m.request.one_per_core = true;
	assert_int_equal(plan(&m, "8-11,24-27", GB), 0);
	drawing = drawing_of(&m, lent);
	if (drawing_write_svg(&drawing, path, &m.err) < 0)
		fail_msg("%s", m.err.text);
	assert_int_equal(count(path, "<svg"), 1);
	assert_int_equal(count(path, "viewBox='0 0 "), 1);
	assert_int_equal(count(path, "px  "), 0); /* the view box has bare numbers */
	/* #7fcc7f: three CPUs, one node; #f2e08a: their siblings. */
	assert_int_equal(count(path, "rgb(127,204,127)"), 4);
	assert_int_equal(count(path, "rgb(242,224,138)"), 3);
	assert_int_equal(drawing_write_svg(&drawing, "/nowhere/plan.svg", &m.err), -1);
	assert_has(m.err.text, "/nowhere/plan.svg: No such file");
	hwloc_bitmap_free(lent);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_letters),
		cmocka_unit_test(every_machine),
		cmocka_unit_test(as_svg),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
