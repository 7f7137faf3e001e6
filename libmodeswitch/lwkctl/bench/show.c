// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/bench/show.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"

static const char *const texts[BENCH_FIGURES] = {
	[BENCH_GETPID] = "getpid",
	[BENCH_CLOCK] = "clock_gettime",
	[BENCH_READ] = "read 1 byte",
	[BENCH_OPEN] = "open and close",
	[BENCH_TOUCH] = "first touch of 4 KB",
	[BENCH_FORK] = "fork, exit, wait",
	[BENCH_LONGEST] = "longest disturbance",
};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Milliseconds: the median and the longest of n durations. */
static void summarize(const uint64_t *us, int n, double *median, double *most)
{
	uint64_t sorted[BENCH_MOST_ROUNDS];

	memcpy(sorted, us, n * sizeof(*us));
	qsort(sorted, n, sizeof(*sorted), compare);
	*median = sorted[n / 2] / 1e3;
	*most = sorted[n - 1] / 1e3;
}

static void print_switch(const char *name, const uint64_t *us, int n, const struct ms_times *times)
{
	char parts[512];
	double median, most;

	summarize(us, n, &median, &most);
	ms_times_print(times, parts, sizeof(parts));
	printf("%-20s %10.1f %10.1f   %s\n", name, median, most, parts);
}

int bench_show_text(const struct bench *bench)
{
	char *cpus;

	if (hwloc_bitmap_list_asprintf(&cpus, bench->lwk_cpus) < 0)
		return EXIT_FAILED;
	printf("LWK with CPUs %s and %ju MB, switched %d times\n", cpus, MB(bench->lwk_memory),
	       bench->rounds);
	free(cpus);
	printf("\n%-20s %10s %10s   %s\n", "SWITCH (ms)", "MEDIAN", "MOST",
	       "PARTS OF THE LAST ONE");
	print_switch("on", bench->on_us, bench->rounds, &bench->on);
	print_switch("off", bench->off_us, bench->rounds, &bench->off);
	printf("\n%-20s %10s %10s %10s\n", "PROGRAM (ns)", "LINUX", "LWK", "LWK/LINUX");
	for (int i = 0; i < BENCH_FIGURES; i++)
		if (texts[i])
			printf("%-20s %10.1f %10.1f %10.2f\n", texts[i], bench->linux_side[i],
			       bench->lwk[i], bench->lwk[i] / bench->linux_side[i]);
	printf("%-20s %9.4f%% %9.4f%%\n", "lost to disturbances",
	       100 * bench->linux_side[BENCH_LOST], 100 * bench->lwk[BENCH_LOST]);
	return EXIT_OK;
}

/* ---- JSON ---- */

static struct json_object *switch_to_json(const uint64_t *us, int n, const struct ms_times *times)
{
	struct json_object *object = json_object_new_object(), *all = json_object_new_array(),
			   *parts = json_object_new_object();
	double median, most;

	summarize(us, n, &median, &most);
	json_add_double(object, "median_ms", median);
	json_add_double(object, "most_ms", most);
	for (int i = 0; i < n; i++)
		json_object_array_add(all, json_object_new_int64(us[i]));
	json_object_object_add(object, "us", all);
	for (size_t i = 0; i < times->n; i++)
		json_add_number(parts, times->parts[i].name, times->parts[i].us);
	json_object_object_add(object, "parts_us", parts);
	return object;
}

static struct json_object *figures_to_json(const double *figures)
{
	struct json_object *object = json_object_new_object();
	char key[32];

	for (int i = 0; i < BENCH_FIGURES; i++) {
		snprintf(key, sizeof(key), "%s%s", bench_figure_names[i],
			 texts[i] ? "_ns" : "_share");
		json_add_double(object, key, figures[i]);
	}
	return object;
}

/* The model of the first CPU, as Linux names it. */
static void add_model(struct json_object *object)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], model[128] = "";

	while (file && !*model && fgets(line, sizeof(line), file))
		sscanf(line, "model name : %127[^\n]", model);
	if (file)
		fclose(file);
	json_add_text(object, "cpu_model", model);
}

int bench_show_json(const struct bench *bench)
{
	struct json_object *object = json_object_new_object();
	struct utsname name;

	uname(&name);
	json_add_text(object, "slurm_lwk", PACKAGE_VERSION);
	json_add_number(object, "date", time(NULL));
	json_add_text(object, "kernel", name.release);
	add_model(object);
	json_add_text(object, "image", bench->image);
	json_add_list(object, "lwk_cpus", bench->lwk_cpus);
	json_add_number(object, "lwk_memory", bench->lwk_memory);
	json_object_object_add(object, "switch_on",
			       switch_to_json(bench->on_us, bench->rounds, &bench->on));
	json_object_object_add(object, "switch_off",
			       switch_to_json(bench->off_us, bench->rounds, &bench->off));
	json_object_object_add(object, "linux", figures_to_json(bench->linux_side));
	json_object_object_add(object, "lwk", figures_to_json(bench->lwk));
	return print_json(object);
}

/* ---- SVG ---- */

#define LEFT 170
#define DECADE 110
#define ROW 24

/* The place of a ratio on a scale of logarithms from a hundredth to a hundred. */
static double place(double ratio)
{
	double decades = ratio > 0 ? log10(ratio) : -2;

	return LEFT + DECADE * (2 + fmin(2, fmax(-2, decades)));
}

static void draw_bar(FILE *out, int y, const char *text, double ratio)
{
	double at = place(ratio), one = place(1);

	fprintf(out,
		"<text x=\"10\" y=\"%d\">%s</text>\n"
		"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"/>\n"
		"<text x=\"%d\" y=\"%d\">%.2f</text>\n",
		y + 12, text, fmin(at, one), y, fabs(at - one), ratio > 1 ? "#c60" : "#07a",
		LEFT + 4 * DECADE + 10, y + 12, ratio);
}

static void draw(const struct bench *bench, FILE *out)
{
	int y = 50, width = LEFT + 4 * DECADE + 70, height = 70 + BENCH_FIGURES * ROW;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"10\" y=\"20\" font-size=\"14\">Times on the LWK by those on Linux: "
		"less is better</text>\n",
		width, height, width, height);
	for (int decade = -2; decade <= 2; decade++)
		fprintf(out,
			"<line x1=\"%d\" y1=\"40\" x2=\"%d\" y2=\"%d\" stroke=\"#aaa\"/>\n"
			"<text x=\"%d\" y=\"36\" text-anchor=\"middle\">%g</text>\n",
			LEFT + (decade + 2) * DECADE, LEFT + (decade + 2) * DECADE, height - 20,
			LEFT + (decade + 2) * DECADE, pow(10, decade));
	for (int i = 0; i < BENCH_FIGURES; i++) {
		if (!texts[i])
			continue;
		draw_bar(out, y, texts[i], bench->lwk[i] / bench->linux_side[i]);
		y += ROW;
	}
	fputs("</svg>\n", out);
}

int bench_write_svg(const struct bench *bench, const char *path, struct ms_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool failed;

	if (!out)
		return ms_fail(err, "%s: %m", path);
	draw(bench, out);
	failed = ferror(out);
	if (fclose(out) || failed)
		return ms_fail(err, "%s: cannot be written (%m)", path);
	return 0;
}
