// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl migrate: reads the options and runs the migration until it ends or a signal comes. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lwkctl/common.h"
#include "lwkctl/migrate/calibrate.h"
#include "lwkctl/migrate/summary.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

#define MEGABYTE (1ULL << 20)
#define CALIBRATION_BYTES (256 * MEGABYTE)
#define CALIBRATION_PERCENT 10
#define KEPT_BYTES (32 << 20)

static volatile sig_atomic_t caught;
static struct timespec caught_at; /* CLOCK_MONOTONIC; written once, before 'caught' */

static void catch_signal(int number)
{
	if (caught)
		return;
	clock_gettime(CLOCK_MONOTONIC, &caught_at);
	caught = number;
}

/* Called when all work has ended, it tells how long the stop has taken. */
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

static void __attribute__((noreturn)) refuse(const char *wanted, const char *found)
{
	exit(usage_error(wanted, found));
}

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

/* The verb's own options. */
static struct {
	struct ms_migrate_request request;
	hwloc_bitmap_t from, to;
	bool calibrate;
	const char *picture;
	uint64_t memory; /* bytes */
} given = { .request = { .method = MS_ADAPTIVE, .sleep_ms = -1 } };

enum {
	OPTION_PID = OPTION_OWN,
	OPTION_JOB,
	OPTION_CGROUP,
	OPTION_FROM,
	OPTION_TO,
	OPTION_METHOD,
	OPTION_PAGES,
	OPTION_SLEEP,
	OPTION_CPU_LIMIT,
	OPTION_BANDWIDTH,
	OPTION_DRY_RUN,
	OPTION_CALIBRATE,
	OPTION_PICTURE,
	OPTION_MEMORY
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct ms_migrate_request *request = &given.request;
	struct ms_error err;
	uint64_t whole = 0;

	switch (key) {
	case OPTION_PID:
		if (!read_whole(text, INT32_MAX, &whole) || !whole)
			refuse("a process, a number", text);
		request->pid = whole;
		return 0;
	case OPTION_JOB:
		if (!read_whole(text, UINT32_MAX - 1, &whole) || !whole)
			refuse("a job, a number", text);
		request->job_id = whole;
		return 0;
	case OPTION_CGROUP:
		if (*text != '/')
			refuse("the absolute path of a cgroup", text);
		request->cgroup = text;
		return 0;
	case OPTION_FROM:
		if (read_nodes(text, &given.from) < 0)
			refuse("NUMA nodes to be left, such as 0 or 0-1,3", text);
		return 0;
	case OPTION_TO:
		if (read_nodes(text, &given.to) < 0)
			refuse("NUMA nodes to move to, such as 1 or 2-3", text);
		return 0;
	case OPTION_METHOD:
		if (!read_method(text, &request->method))
			refuse("a method: periodical, severe, mild or adaptive", text);
		return 0;
	case OPTION_PAGES:
		if (!read_whole(text, UINT32_MAX, &whole) || whole < MS_MIGRATE_MIN_PAGES)
			refuse("a number of pages, 64 or more", text);
		request->pages = whole;
		return 0;
	case OPTION_SLEEP:
		if (!read_whole(text, MS_MIGRATE_MAX_SLEEP_MS, &whole))
			refuse("a sleep in milliseconds, up to an hour", text);
		request->sleep_ms = whole;
		return 0;
	case OPTION_CPU_LIMIT:
		if (!read_number(text, 100, &request->cpu_percent) || !(request->cpu_percent > 0))
			refuse("a share of one CPU above 0 and up to 100 percent", text);
		return 0;
	case OPTION_BANDWIDTH:
		if (!read_whole(text, 1 << 20, &whole) || !whole)
			refuse("a bandwidth in MB/s, from 1 to 1048576", text);
		request->bandwidth = whole * MEGABYTE;
		return 0;
	case OPTION_DRY_RUN:
		request->dry_run = true;
		return 0;
	case OPTION_CALIBRATE:
		given.calibrate = true;
		return 0;
	case OPTION_PICTURE:
		given.picture = text;
		return 0;
	case OPTION_MEMORY:
		if (ms_parse_size(text, &given.memory, &err) < 0)
			refuse("a size such as 256M", text);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Checks how the options go together; each alone is checked by parse(). */
static int check_together(void)
{
	const struct ms_migrate_request *request = &given.request;
	int targets = !!request->pid + !!request->job_id + !!request->cgroup + given.calibrate;

	if (targets != 1)
		return usage_error("one of --pid, --job, --cgroup and --calibrate",
				   "none or several");
	if (!given.calibrate && (given.picture || given.memory))
		return usage_error("--picture and --memory with --calibrate only", "them without");
	if (!given.from || !given.to)
		return usage_error("--from NODES and --to NODES", "one or none of them");
	return EXIT_OK;
}

static int run_calibration(bool json)
{
	struct calibration_request request = {
		.from = given.from,
		.to = given.to,
		.bytes = given.memory ? given.memory : CALIBRATION_BYTES,
		.wanted = given.request.cpu_percent > 0 ? given.request.cpu_percent
							: CALIBRATION_PERCENT,
		.picture = given.picture,
		.json = json,
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

static int migrate(bool json)
{
	struct ms_migrate_request *request = &given.request;
	bool terminal = isatty(STDERR_FILENO);
	struct ms_migrate_state state;
	struct ms_error err = { "" };
	double stop_seconds;
	uint64_t left = 0;
	int ret;

	/*
	 * Each round allocates and frees lists of the same size. malloc() keeps their memory,
	 * because the kernel would have to clear it again for each round.
	 */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	request->stop = was_caught;
	request->hear = terminal ? print_progress : NULL;
	ret = ms_migrate(request, &state, &err);
	stop_seconds = caught ? seconds_since_signal() : 0;
	if (terminal)
		fputs("\r\033[K", stderr);
	if (json)
		print_summary_json(request, &state, stop_seconds, err.text);
	else if (ret == 0 || state.found)
		print_summary(request, &state, stop_seconds);
	if (ret < 0)
		fprintf(stderr, "lwkctl: %s\n", err.text);
	if (caught)
		return 128 + caught;
	/* Pages that something else moved back are no failure of the migration. */
	for (int i = 0; i < MS_LEFT_REASONS && !request->dry_run; i++)
		left += i == MS_LEFT_RETURNED ? 0 : state.left[i];
	return ret < 0 || left ? EXIT_FAILED : EXIT_OK;
}

static int run(const struct options *options)
{
	int status = check_together();

	if (status == EXIT_OK) {
		given.request.from = given.from;
		given.request.to = given.to;
		catch_signals();
		status = given.calibrate ? run_calibration(options->json) : migrate(options->json);
	}
	hwloc_bitmap_free(given.from);
	hwloc_bitmap_free(given.to);
	return status;
}

const struct verb verb_migrate = {
	.name = "migrate",
	.summary = "Move memory of running programs between NUMA nodes",
	.help = "Moves memory of running programs between NUMA nodes in rounds of pages, those in use first, "
		"slowly enough that the programs and others hardly notice. Only root can move memory of "
		"other users' programs. lwkctl-migrate(8) explains the options.",
	.arguments = "--pid P --from NODES --to NODES\n--job J --from NODES --to NODES\n"
		     "--cgroup PATH --from NODES --to NODES\n--calibrate --from NODES --to NODES",
	.options =
		(const struct argp_option[]){
			OPTION("pid", OPTION_PID, "P",
			       "Move memory of process P and its descendants"),
			OPTION("job", OPTION_JOB, "J", "Move memory of Slurm job J on this node"),
			OPTION("cgroup", OPTION_CGROUP, "PATH",
			       "Move memory of the processes in this cgroup and below it"),
			OPTION("from", OPTION_FROM, "NODES",
			       "The NUMA nodes to leave, such as 0-1,3"),
			OPTION("to", OPTION_TO, "NODES", "The NUMA nodes to move to"),
			OPTION("method", OPTION_METHOD, "METHOD",
			       "periodical, severe, mild or adaptive (the default)"),
			OPTION("pages", OPTION_PAGES, "N", "Pages of 4 KB in a round, 64 or more"),
			OPTION("sleep", OPTION_SLEEP, "MS",
			       "The sleep after a round, in milliseconds"),
			OPTION("cpu-limit", OPTION_CPU_LIMIT, "PERCENT",
			       "The share of one CPU that it takes at most"),
			OPTION("bandwidth", OPTION_BANDWIDTH, "MB/s",
			       "The megabytes that it moves in a second at most"),
			FLAG("dry-run", OPTION_DRY_RUN, "Move nothing; show what would be moved"),
			FLAG("calibrate", OPTION_CALIBRATE,
			     "Measure what share of a CPU each setting takes on this machine"),
			OPTION("memory", OPTION_MEMORY, "SIZE",
			       "How much memory --calibrate moves; 256M by default"),
			OPTION("picture", OPTION_PICTURE, "FILE.svg|FILE.png",
			       "Draw what --calibrate measured; needs gnuplot"),
			JSON_OPTION,
			{ 0 } },
	.parse = parse,
	.run = run,
};
