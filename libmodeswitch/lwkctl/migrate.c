// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl migrate: moves memory of running programs between NUMA nodes.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/calibrate.h"
#include "lwkctl/common.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

#define BAR_WIDTH 24
#define MB (1ULL << 20)
#define CALIBRATION_BYTES (256 * MB)
#define CALIBRATION_PERCENT 10
#define KEPT_BYTES (32 << 20)

static volatile sig_atomic_t caught;
static struct timespec caught_at; /* CLOCK_MONOTONIC; written before 'caught', once */

static void catch_signal(int number)
{
	if (caught)
		return;
	clock_gettime(CLOCK_MONOTONIC, &caught_at);
	caught = number;
}

/* How long ago the signal came: what a stop has taken, once the work has ended. */
static double seconds_since_signal(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - caught_at.tv_sec) +
	       (double)(now.tv_nsec - caught_at.tv_nsec) / 1e9;
}

static bool was_caught(void *context)
{
	return caught;
}

static int bad(const char *wanted, const char *found)
{
	fprintf(stderr, "lwkctl migrate: wanted %s; found \"%s\"; see lwkctl migrate --help\n",
		wanted, found);
	return EXIT_USAGE;
}

/* ---- what is shown ---- */

static void print_bytes(FILE *file, uint64_t bytes)
{
	if (bytes && bytes < 10 * MB)
		fprintf(file, "%ju KB", (uintmax_t)(bytes >> 10));
	else
		fprintf(file, "%ju MB", (uintmax_t)(bytes >> 20));
}

static unsigned percent(uint64_t part, uint64_t whole)
{
	return whole ? part * 100 / whole : 100;
}

/* One line that stays in its place. */
static void show_progress(const struct ms_migrate_state *state, void *context)
{
	double rate = state->seconds > 0 ? state->moved / state->seconds : 0;
	unsigned done = percent(state->moved, state->found);
	uint64_t left = state->found - state->moved;
	char bar[BAR_WIDTH + 1];

	if (done > 100 || state->moved > state->found) {
		done = 100;
		left = 0;
	}
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', done * BAR_WIDTH / 100);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r\033[K[%s] %3u %%  %ju of %ju MB  %.0f MB/s  CPU %.1f %%", bar, done,
		(uintmax_t)(state->moved / MB), (uintmax_t)(state->found / MB), rate / MB,
		state->seconds > 0 ? state->cpu_seconds * 100 / state->seconds : 0);
	if (state->hot_found)
		fprintf(stderr, "  hot %u %%", percent(state->hot_moved, state->hot_found));
	if (rate > 0)
		fprintf(stderr, "  %.0f s left", left / rate);
}

static void print_by_word(const char *title, const uint64_t *bytes, int n,
			  const char *(*word)(int number))
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		if (!bytes[i])
			continue;
		printf("%s%s ", any ? ", " : title, word(i));
		print_bytes(stdout, bytes[i]);
		any = true;
	}
	if (any)
		putchar('\n');
}

static const char *left_word(int number)
{
	return ms_migrate_left_word(number);
}

static const char *kind_word(int number)
{
	return ms_migrate_kind_word(number);
}

static void print_notes(const char *notes)
{
	for (const char *end; *notes; notes = *end ? end + 1 : end) {
		end = strchrnul(notes, '\n');
		printf("  note: %.*s\n", (int)(end - notes), notes);
	}
}

static void print_state(const struct ms_migrate_request *request,
			const struct ms_migrate_state *state, double stop_seconds)
{
	printf("%s ", request->dry_run ? "would move" : "moved");
	print_bytes(stdout, request->dry_run ? state->found : state->moved);
	if (!request->dry_run) {
		printf(" of ");
		print_bytes(stdout, state->found);
		printf(" in %.1f s: %.0f MB/s, %.2f s of CPU time (%.1f %%)", state->seconds,
		       state->moved / (state->seconds > 0 ? state->seconds : 1) / MB,
		       state->cpu_seconds,
		       state->cpu_seconds * 100 / (state->seconds > 0 ? state->seconds : 1));
	}
	printf("; %u process%s%s", state->processes, state->processes == 1 ? "" : "es",
	       state->stopped ? "; stopped before the end" : "");
	if (stop_seconds > 0)
		printf(", within %.0f ms", stop_seconds * 1000);
	putchar('\n');
	printf("  use known from: %s%s\n", state->source,
	       strcmp(state->source, "accessed") == 0 ? " bits (lwkpart.ko)" : "");
	print_by_word("  among it: ", state->kinds, MS_KINDS, kind_word);
	if (state->gone) {
		printf("  freed meanwhile: ");
		print_bytes(stdout, state->gone);
		putchar('\n');
	}
	if (!request->dry_run)
		print_by_word("  left: ", state->left, MS_LEFT_REASONS, left_word);
	print_notes(state->notes);
}

static void print_state_json(const struct ms_migrate_request *request,
			     const struct ms_migrate_state *state, double stop_seconds,
			     const char *error)
{
	struct json_object *object = ms_migrate_state_to_json(state);

	json_add_text(object, "method", ms_migrate_method_word(request->method));
	if (state->stopped)
		json_object_object_add(object, "stop_seconds",
				       json_object_new_double(stop_seconds));
	json_add_text(object, "error", error);
	print_json(object);
}

/* ---- the command line ---- */

static bool read_number(const char *text, double most, double *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtod(text, &end);
	return !*end && !errno && *number <= most;
}

static bool read_whole(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno && *number <= most;
}

static int read_nodes(const char *text, hwloc_bitmap_t *nodes)
{
	struct ms_error err;

	if (!*nodes)
		*nodes = hwloc_bitmap_alloc();
	return *nodes && *text && ms_parse_cpus(text, *nodes, &err) == 0 ? 0 : -1;
}

static bool read_method(const char *text, enum ms_migrate_method *method)
{
	for (*method = 0; *method < MS_MIGRATE_METHODS; (*method)++) {
		if (strcmp(text, ms_migrate_method_word(*method)) == 0)
			return true;
	}
	return false;
}

struct line {
	struct ms_migrate_request request;
	hwloc_bitmap_t from, to;
	bool json;
	bool calibrate;
	const char *picture;
	uint64_t memory;
};

static int read_option(struct line *line, int letter, const char *text)
{
	struct ms_migrate_request *request = &line->request;
	struct ms_error err;
	uint64_t whole = 0;

	switch (letter) {
	case 'p':
		if (!read_whole(text, INT32_MAX, &whole) || !whole)
			return bad("a process, a number", text);
		request->pid = whole;
		break;
	case 'J':
		if (!read_whole(text, UINT32_MAX - 1, &whole) || !whole)
			return bad("a job, a number", text);
		request->job_id = whole;
		break;
	case 'g':
		if (*text != '/')
			return bad("the absolute path of a cgroup", text);
		request->cgroup = text;
		break;
	case 'f':
		if (read_nodes(text, &line->from) < 0)
			return bad("NUMA nodes to be left, such as 0 or 0-1,3", text);
		break;
	case 't':
		if (read_nodes(text, &line->to) < 0)
			return bad("NUMA nodes to move to, such as 1 or 2-3", text);
		break;
	case 'm':
		if (!read_method(text, &request->method))
			return bad("a method: periodical, severe, mild or adaptive", text);
		break;
	case 'n':
		if (!read_whole(text, UINT32_MAX, &whole) || whole < MS_MIGRATE_MIN_PAGES)
			return bad("a number of pages, 64 or more", text);
		request->pages = whole;
		break;
	case 's':
		if (!read_whole(text, MS_MIGRATE_MAX_SLEEP_MS, &whole))
			return bad("a sleep in milliseconds, up to an hour", text);
		request->sleep_ms = whole;
		break;
	case 'c':
		if (!read_number(text, 100, &request->cpu_percent) || !(request->cpu_percent > 0))
			return bad("a share of one CPU above 0 and up to 100 percent", text);
		break;
	case 'b':
		if (!read_whole(text, 1 << 20, &whole) || !whole)
			return bad("a bandwidth in MB/s, from 1 to 1048576", text);
		request->bandwidth = whole * MB;
		break;
	case 'j':
		line->json = true;
		break;
	case 'd':
		request->dry_run = true;
		break;
	case 'C':
		line->calibrate = true;
		break;
	case 'P':
		line->picture = text;
		break;
	case 'M':
		if (ms_parse_size(text, &line->memory, &err) < 0)
			return bad("a size such as 256M", text);
		break;
	}
	return EXIT_OK;
}

static int read_line(struct line *line, int argc, char **argv)
{
	static const struct option known[] = {
		{ "pid", required_argument, NULL, 'p' },
		{ "job", required_argument, NULL, 'J' },
		{ "cgroup", required_argument, NULL, 'g' },
		{ "from", required_argument, NULL, 'f' },
		{ "to", required_argument, NULL, 't' },
		{ "method", required_argument, NULL, 'm' },
		{ "pages", required_argument, NULL, 'n' },
		{ "sleep", required_argument, NULL, 's' },
		{ "cpu-limit", required_argument, NULL, 'c' },
		{ "bandwidth", required_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "dry-run", no_argument, NULL, 'd' },
		{ "calibrate", no_argument, NULL, 'C' },
		{ "picture", required_argument, NULL, 'P' },
		{ "memory", required_argument, NULL, 'M' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int letter, status;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		if (letter == 'h')
			return SHOW_HELP;
		if (letter == '?')
			return bad("an option of migrate", argv[optind - 1]);
		status = read_option(line, letter, optarg);
		if (status != EXIT_OK)
			return status;
	}
	if (optind < argc)
		return bad("options only", argv[optind]);
	if (!line->request.pid + !line->request.job_id + !line->request.cgroup + !line->calibrate !=
	    3)
		return bad("one of --pid, --job, --cgroup and --calibrate", "none or several");
	if (!line->calibrate && (line->picture || line->memory))
		return bad("--picture and --memory with --calibrate only", "them without");
	if (!line->from || !line->to)
		return bad("--from NODES and --to NODES", "one or none of them");
	return EXIT_OK;
}

static int run_calibration(const struct line *line)
{
	struct calibration_request request = {
		.from = line->from,
		.to = line->to,
		.bytes = line->memory ? line->memory : CALIBRATION_BYTES,
		.wanted = line->request.cpu_percent > 0 ? line->request.cpu_percent
							: CALIBRATION_PERCENT,
		.picture = line->picture,
		.json = line->json,
		.stop = was_caught,
	};
	struct ms_error err;

	return calibrate(&request, &err) < 0 ? fail(&err) : EXIT_OK;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = catch_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static int migrate(struct line *line)
{
	struct ms_migrate_request *request = &line->request;
	bool terminal = isatty(STDERR_FILENO);
	struct ms_migrate_state state;
	struct ms_error err = { "" };
	double stop_seconds;
	uint64_t left = 0;
	int ret;

	/* Each round has the same lists: given back to the kernel they would be cleared each time. */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	request->stop = was_caught;
	request->hear = terminal ? show_progress : NULL;
	ret = ms_migrate(request, &state, &err);
	stop_seconds = caught ? seconds_since_signal() : 0;
	if (terminal)
		fputs("\r\033[K", stderr);
	if (line->json)
		print_state_json(request, &state, stop_seconds, err.text);
	else if (ret == 0 || state.found)
		print_state(request, &state, stop_seconds);
	if (ret < 0)
		fprintf(stderr, "lwkctl: %s\n", err.text);
	if (caught)
		return 128 + caught;
	/* What was made anew there is not the migration's fault. */
	for (int i = 0; i < MS_LEFT_REASONS && !request->dry_run; i++)
		left += i == MS_LEFT_RETURNED ? 0 : state.left[i];
	return ret < 0 || left ? EXIT_FAILED : EXIT_OK;
}

int run_migrate(const struct options *options)
{
	struct line line = { .request = { .method = MS_ADAPTIVE, .sleep_ms = -1 } };
	int status = read_line(&line, options->n_arguments, options->arguments);

	if (status == EXIT_OK) {
		line.request.from = line.from;
		line.request.to = line.to;
		catch_signals();
		status = line.calibrate ? run_calibration(&line) : migrate(&line);
	}
	hwloc_bitmap_free(line.from);
	hwloc_bitmap_free(line.to);
	return status;
}
