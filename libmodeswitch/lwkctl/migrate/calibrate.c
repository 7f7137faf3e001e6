// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl migrate --calibrate: migrates memory of its own with several settings, the pages of a
 * round (n) and the sleep after it (t), and measures which share of a CPU each setting takes.
 */
#include <errno.h>
#include <numa.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "lwkctl/migrate/calibrate.h"
#include "modeswitch/migrate.h"

#define GNUPLOT "/usr/bin/gnuplot"
#define PAGE_BYTES 4096UL
#define MEGABYTE (1ULL << 20)
/* A setting is measured for about ROUNDS_MS, but for a number of rounds within these limits. */
#define LEAST_ROUNDS 3U
#define MOST_ROUNDS 20U
#define ROUNDS_MS 2000U
#define MOST_SECONDS 15

static const unsigned counts[] = { 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000 };
static const int sleeps[] = { 10, 30, 100, 300, 1000, 3000 };
#define N_COUNTS (sizeof(counts) / sizeof(*counts))
#define N_SLEEPS (sizeof(sleeps) / sizeof(*sleeps))

struct cell {
	double cpu_percent, megabytes_per_second;
};

struct calibration {
	const struct calibration_request *request;
	hwloc_const_bitmap_t from, to; /* swapped when most of the memory has moved */
	pid_t pid;
	uint64_t on_from; /* bytes of the memory that are on 'from' */
	size_t n_counts;  /* the members of 'counts' for which the memory is enough */
	unsigned rounds;  /* of the setting that is measured now */
	bool done;
	struct cell cells[N_COUNTS][N_SLEEPS];
};

/* ---- the memory that is moved ---- */

static void __attribute__((noreturn)) hold_memory(const struct calibration_request *request,
						  int ready)
{
	char *memory = mmap(NULL, request->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (memory == MAP_FAILED)
		_exit(1);
	madvise(memory, request->bytes, MADV_NOHUGEPAGE);
	numa_set_preferred(hwloc_bitmap_first(request->from));
	memset(memory, 1, request->bytes);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static int make_memory(struct calibration *calibration)
{
	int ends[2];
	char byte;
	bool made;

	if (pipe(ends) < 0)
		return -1;
	calibration->pid = fork();
	if (calibration->pid == 0)
		hold_memory(calibration->request, ends[1]);
	close(ends[1]);
	made = calibration->pid > 0 && read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	calibration->on_from = calibration->request->bytes;
	return made ? 0 : -1;
}

static void end_memory(const struct calibration *calibration)
{
	if (calibration->pid <= 0)
		return;
	kill(calibration->pid, SIGKILL);
	waitpid(calibration->pid, NULL, 0);
}

/* ---- measuring ---- */

static void watch(const struct ms_migrate_state *state, void *context)
{
	struct calibration *calibration = context;

	calibration->done = state->rounds >= calibration->rounds || state->seconds > MOST_SECONDS;
}

static bool is_done(void *context)
{
	struct calibration *calibration = context;

	return calibration->done || calibration->request->stop(NULL);
}

static int measure(struct calibration *calibration, unsigned n, int t, struct cell *cell,
		   struct ms_error *err)
{
	struct ms_migrate_request request = {
		.pid = calibration->pid,
		.method = MS_MILD,
		.pages = n,
		.sleep_ms = t,
		.stop = is_done,
		.hear = watch,
		.context = calibration,
	};
	struct ms_migrate_state state;

	if (calibration->on_from * 2 < calibration->request->bytes) {
		hwloc_const_bitmap_t from = calibration->from;

		calibration->from = calibration->to;
		calibration->to = from;
		calibration->on_from = calibration->request->bytes - calibration->on_from;
	}
	request.from = calibration->from;
	request.to = calibration->to;
	calibration->done = false;
	calibration->rounds = ROUNDS_MS / t;
	if (calibration->rounds < LEAST_ROUNDS)
		calibration->rounds = LEAST_ROUNDS;
	if (calibration->rounds > MOST_ROUNDS)
		calibration->rounds = MOST_ROUNDS;
	if (ms_migrate(&request, &state, err) < 0)
		return -1;
	calibration->on_from -=
		state.moved < calibration->on_from ? state.moved : calibration->on_from;
	cell->cpu_percent = state.cpu_seconds * 100 / state.seconds;
	cell->megabytes_per_second = state.moved / state.seconds / MEGABYTE;
	return 0;
}

static int measure_all(struct calibration *calibration, struct ms_error *err)
{
	bool terminal = isatty(STDERR_FILENO);

	for (size_t i = 0; i < calibration->n_counts; i++) {
		for (size_t j = 0; j < N_SLEEPS; j++) {
			if (calibration->request->stop(NULL))
				return ms_fail(err, "stopped before the end");
			if (terminal)
				fprintf(stderr, "\r\033[K%zu of %zu: %u pages, %d ms",
					i * N_SLEEPS + j + 1, calibration->n_counts * N_SLEEPS,
					counts[i], sleeps[j]);
			if (measure(calibration, counts[i], sleeps[j], &calibration->cells[i][j],
				    err) < 0)
				return -1;
		}
	}
	if (terminal)
		fputs("\r\033[K", stderr);
	return 0;
}

/* ---- results ---- */

/* Finds the fastest setting within the wanted share of a CPU; false when there is none. */
static bool propose(const struct calibration *calibration, size_t *n, size_t *t)
{
	double best = 0;

	for (size_t i = 0; i < calibration->n_counts; i++) {
		for (size_t j = 0; j < N_SLEEPS; j++) {
			const struct cell *cell = &calibration->cells[i][j];

			if (cell->cpu_percent > calibration->request->wanted ||
			    cell->megabytes_per_second <= best)
				continue;
			best = cell->megabytes_per_second;
			*n = i;
			*t = j;
		}
	}
	return best > 0;
}

static void print_table(const struct calibration *calibration)
{
	size_t n = 0, t = 0;

	printf("share of a CPU (%%) and MB/s, by pages (down) and sleep in ms (across)\n%8s", "");
	for (size_t j = 0; j < N_SLEEPS; j++)
		printf("%14d", sleeps[j]);
	putchar('\n');
	for (size_t i = 0; i < calibration->n_counts; i++) {
		printf("%8u", counts[i]);
		for (size_t j = 0; j < N_SLEEPS; j++)
			printf("%7.1f %6.1f", calibration->cells[i][j].cpu_percent,
			       calibration->cells[i][j].megabytes_per_second);
		putchar('\n');
	}
	if (propose(calibration, &n, &t))
		printf("for at most %g %%: --pages %u --sleep %d\n", calibration->request->wanted,
		       counts[n], sleeps[t]);
	else
		printf("none of these takes at most %g %%; use --cpu-limit %g\n",
		       calibration->request->wanted, calibration->request->wanted);
}

static void print_cells(const struct calibration *calibration)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cells = json_object_new_array();
	size_t n = 0, t = 0;

	for (size_t i = 0; i < calibration->n_counts; i++) {
		for (size_t j = 0; j < N_SLEEPS; j++) {
			struct json_object *cell = json_object_new_object();

			json_add_number(cell, "pages", counts[i]);
			json_add_number(cell, "sleep_ms", sleeps[j]);
			json_add_double(cell, "cpu_percent", calibration->cells[i][j].cpu_percent);
			json_add_double(cell, "mb_per_second",
					calibration->cells[i][j].megabytes_per_second);
			json_object_array_add(cells, cell);
		}
	}
	json_object_object_add(object, "cells", cells);
	json_add_double(object, "wanted_percent", calibration->request->wanted);
	if (propose(calibration, &n, &t)) {
		json_add_number(object, "pages", counts[n]);
		json_add_number(object, "sleep_ms", sleeps[t]);
	}
	print_json(object);
}

/* ---- the picture ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), n = strlen(end);

	return length > n && strcmp(text + length - n, end) == 0;
}

static int check_picture(const char *path, struct ms_error *err)
{
	/*
	 * gnuplot's script has the name between single quotes, inside which nothing can be escaped.
	 */
	if (strpbrk(path, "'\n") || (!ends_with(path, ".svg") && !ends_with(path, ".png")))
		return ms_fail(err,
			       "expected a file name that ends with .svg or .png, without quotes, "
			       "found \"%s\"",
			       path);
	if (access(GNUPLOT, X_OK) < 0)
		return ms_fail(err,
			       "expected " GNUPLOT " for a picture, found: %m; install gnuplot "
			       "(gnuplot-nox), or go without --picture");
	return 0;
}

static void write_script(FILE *script, const struct calibration *calibration)
{
	const char *path = calibration->request->picture;

	fprintf(script,
		"set terminal %s size 800,500\nset output '%s'\n"
		"set title \"Share of a CPU (%%) that a migration takes\"\n"
		"set xlabel \"sleep (ms)\"\nset ylabel \"pages\"\n"
		"set xrange [-0.5:%zu.5]\nset yrange [-0.5:%zu.5]\nset cbrange [0:100]\nset xtics (",
		ends_with(path, ".svg") ? "svg" : "pngcairo", path, N_SLEEPS - 1,
		calibration->n_counts - 1);
	for (size_t j = 0; j < N_SLEEPS; j++)
		fprintf(script, "%s\"%d\" %zu", j ? ", " : "", sleeps[j], j);
	fputs(")\nset ytics (", script);
	for (size_t i = 0; i < calibration->n_counts; i++)
		fprintf(script, "%s\"%u\" %zu", i ? ", " : "", counts[i], i);
	fputs(")\n$cells << END\n", script);
	for (size_t i = 0; i < calibration->n_counts; i++) {
		for (size_t j = 0; j < N_SLEEPS; j++)
			fprintf(script, "%zu %zu %.2f\n", j, i,
				calibration->cells[i][j].cpu_percent);
	}
	fputs("END\nplot $cells using 1:2:3 with image notitle, "
	      "$cells using 1:2:(sprintf(\"%.1f\", $3)) with labels notitle\n",
	      script);
}

static int draw(const struct calibration *calibration, struct ms_error *err)
{
	char *const argv[] = { "gnuplot", "-", NULL };
	char *const environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1, error;
	FILE *script;
	pid_t pid;

	if (pipe(ends) < 0)
		return ms_fail(err, "pipe: %m");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	signal(SIGPIPE, SIG_IGN);
	error = posix_spawn(&pid, GNUPLOT, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	script = error ? NULL : fdopen(ends[1], "w");
	if (script) {
		write_script(script, calibration);
		fclose(script);
	} else {
		close(ends[1]);
	}
	if (error || waitpid(pid, &status, 0) != pid || status != 0)
		return ms_fail(err,
			       "expected a picture in %s, found that " GNUPLOT " failed%s%s; its "
			       "message is above",
			       calibration->request->picture, error ? ": " : "",
			       error ? strerror(error) : "");
	return 0;
}

int calibrate(const struct calibration_request *request, struct ms_error *err)
{
	struct calibration calibration = { .request = request,
					   .from = request->from,
					   .to = request->to };
	int ret;

	if (request->picture && check_picture(request->picture, err) < 0)
		return -1;
	while (calibration.n_counts < N_COUNTS &&
	       counts[calibration.n_counts] * PAGE_BYTES * LEAST_ROUNDS <= request->bytes)
		calibration.n_counts++;
	if (!calibration.n_counts)
		return ms_fail(err,
			       "expected memory for at least %u pages in each of %u rounds, found "
			       "%ju bytes with --memory",
			       counts[0], LEAST_ROUNDS, (uintmax_t)request->bytes);
	if (make_memory(&calibration) < 0)
		ret = ms_fail(
			err,
			"expected %ju MB of memory to move, found that it cannot be allocated; use "
			"less with --memory",
			(uintmax_t)(request->bytes / MEGABYTE));
	else
		ret = measure_all(&calibration, err);
	end_memory(&calibration);
	if (ret < 0)
		return ret;
	if (request->json)
		print_cells(&calibration);
	else
		print_table(&calibration);
	return request->picture ? draw(&calibration, err) : 0;
}
