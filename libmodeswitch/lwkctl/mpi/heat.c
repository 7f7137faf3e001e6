// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/heat.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define CELLS_MAX 64
#define SVG_CELLS_MAX 512

struct heat {
	int n, ranks_a_cell;
	double *bytes; /* n × n */
	double most;
};

static int fill(struct heat *heat, const struct profile *profile, int cells)
{
	heat->ranks_a_cell = (profile->ranks + cells - 1) / cells;
	heat->n = (profile->ranks + heat->ranks_a_cell - 1) / heat->ranks_a_cell;
	heat->bytes = calloc((size_t)heat->n * heat->n, sizeof(double));
	heat->most = 0;
	for (size_t i = 0; heat->bytes && i < profile->n_edges; i++) {
		const struct profile_edge *edge = &profile->edges[i];
		double *cell = &heat->bytes[edge->from / heat->ranks_a_cell * heat->n +
					    edge->to / heat->ranks_a_cell];

		*cell += edge->bytes;
		if (*cell > heat->most)
			heat->most = *cell;
	}
	return heat->bytes ? 0 : -1;
}

/* The heat of a cell, 0 to 1, on a scale of logarithms over six decades. */
static double warmth(const struct heat *heat, double bytes)
{
	double decades = bytes > 0 ? 6 + log10(bytes / heat->most) : -1;

	return bytes <= 0 ? 0 : decades < 0 ? 0.01 : 0.01 + 0.99 * decades / 6;
}

void heat_print(const struct profile *profile, FILE *out)
{
	static const char scale[] = " .:-=+*#%@";
	struct heat heat;

	if (fill(&heat, profile, CELLS_MAX) < 0)
		return;
	fprintf(out, "bytes from the rank of a line to the rank of a column");
	if (heat.ranks_a_cell > 1)
		fprintf(out, ", %d ranks a cell", heat.ranks_a_cell);
	fprintf(out, "; @ is %.0f, each step towards . about a fifth of it\n", heat.most);
	for (int i = 0; i < heat.n; i++) {
		fprintf(out, "%6d |", i * heat.ranks_a_cell);
		for (int j = 0; j < heat.n; j++)
			putc(scale[(int)ceil(9 * warmth(&heat, heat.bytes[i * heat.n + j]))], out);
		fputs("|\n", out);
	}
	free(heat.bytes);
}

static void draw(const struct heat *heat, const struct profile *profile, FILE *out)
{
	int cell = heat->n > 64 ? 4 : 12, side = heat->n * cell;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n",
		side + 80, side + 70, side + 80, side + 70);
	fprintf(out,
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"60\" y=\"20\">MPI traffic of job %s, %d ranks: at most %.0f bytes"
		"</text>\n<text x=\"60\" y=\"%d\">to rank</text>\n<text x=\"5\" y=\"50\">from"
		"</text>\n<rect x=\"60\" y=\"35\" width=\"%d\" height=\"%d\" fill=\"none\" "
		"stroke=\"#888\"/>\n",
		profile->job, profile->ranks, heat->most, side + 55, side, side);
	for (int i = 0; i < heat->n; i++) {
		for (int j = 0; j < heat->n; j++) {
			double bytes = heat->bytes[i * heat->n + j], hot = warmth(heat, bytes);

			if (bytes <= 0)
				continue;
			fprintf(out,
				"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
				"fill=\"rgb(%.0f,%.0f,%.0f)\"><title>%d to %d: %.0f bytes</title>"
				"</rect>\n",
				60 + j * cell, 35 + i * cell, cell, cell, 255 - 30 * hot,
				230 - 200 * hot, 190 - 160 * hot, i * heat->ranks_a_cell,
				j * heat->ranks_a_cell, bytes);
		}
	}
	fputs("</svg>\n", out);
}

/* The job's name comes from a file, and XML has letters of its own. */
static void clean(char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '&' || *text == '>' || (unsigned char)*text > '~')
			*text = '?';
	}
}

int heat_write_svg(const struct profile *profile, const char *path, struct ms_error *err)
{
	struct profile named = *profile;
	struct heat heat;
	int fd, failed;
	FILE *out;

	clean(named.job);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return ms_fail(err, "%s: %m", path);
	if (fill(&heat, profile, SVG_CELLS_MAX) == 0) {
		draw(&heat, &named, out);
		free(heat.bytes);
	}
	failed = ferror(out);
	return fclose(out) == 0 && !failed ? 0 : ms_fail(err, "%s: %m", path);
}
