// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl list, info, stat, kmsg, events, freeze, thaw, dump: looking at a job's LWK while it runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lwkctl/common.h"

#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

#define MB(bytes) ((uintmax_t)((bytes) >> 20))
#define FOLLOW_MS 250
#define FREEZE_MS 10000

/* ---- list, info ---- */

struct row {
	struct ms_job *job;
	struct ms_instance_info info;
	struct ms_pmu pmu; /* print_info() */
};

static void user_name(uid_t uid, char *name, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(name, size, "%s", user->pw_name);
	else
		snprintf(name, size, "%u", uid);
}

static void format_time(int64_t ns, char *text, size_t size)
{
	time_t when = ns / 1000000000;
	struct tm tm;

	strftime(text, size, "%F %T", localtime_r(&when, &tm));
}

/* False: it has none, or it has ended meanwhile. */
static bool look_at(uint32_t job_id, struct row *row, struct ms_error *err)
{
	struct ms_watch *watch;
	struct ms_usage usage;
	struct ms_error ignored;
	bool seen;

	if (ms_watch_open(job_id, &watch, err) < 0)
		return false;
	seen = ms_watch_info(watch, &row->info, err) == 0;
	if (seen && ms_watch_usage(watch, &usage, &ignored) == 1) {
		row->pmu = usage.pmu;
		ms_usage_release(&usage);
	}
	ms_watch_close(watch);
	return seen;
}

static struct json_object *row_to_json(const struct row *row)
{
	struct json_object *object = ms_job_to_json(row->job);
	const struct ms_instance_info *info = &row->info;

	json_object_object_add(object, "instance_state",
			       json_object_new_string(ms_instance_state_word(info->state)));
	json_object_object_add(object, "instance_since_ns", json_object_new_int64(info->since_ns));
	json_object_object_add(object, "message", json_object_new_string(info->message));
	json_object_object_add(object, "cpus", json_object_new_int64(info->cpus));
	json_object_object_add(object, "processes", json_object_new_int64(info->processes));
	return object;
}

static void print_row(const struct row *row)
{
	char user[64], since[32];

	user_name(row->job->uid, user, sizeof(user));
	format_time(row->info.since_ns, since, sizeof(since));
	printf("%-10u %-12s %-12s %-14s %-19s %5u %5u %9ju\n", row->job->job_id, user,
	       row->job->image, ms_instance_state_word(row->info.state), since, row->info.cpus,
	       row->info.processes, MB(row->info.memory));
}

int run_list(const struct options *options)
{
	struct json_object *array = json_object_new_array();
	struct ms_error err;
	struct ms_job *jobs;
	size_t n;

	if (ms_job_list(&jobs, &n, &err) < 0) {
		json_object_put(array);
		return fail(&err);
	}
	if (!options->json)
		printf("%-10s %-12s %-12s %-14s %-19s %5s %5s %9s\n", "JOB", "USER", "IMAGE",
		       "STATE", "SINCE", "CPUS", "PROCS", "MEMORY_MB");
	for (size_t i = 0; i < n; i++) {
		struct row row = { .job = &jobs[i] };

		if ((geteuid() != 0 && jobs[i].uid != geteuid()) ||
		    jobs[i].state != MS_JOB_ACTIVE || !look_at(jobs[i].job_id, &row, &err))
			continue;
		if (options->json)
			json_object_array_add(array, row_to_json(&row));
		else
			print_row(&row);
	}
	ms_job_list_free(jobs, n);
	if (options->json)
		return print_json(array);
	json_object_put(array);
	return EXIT_OK;
}

static void print_pmu(const struct ms_pmu *pmu)
{
	if (pmu->version)
		printf("counters   %u of %u bits and %u fixed ones for each CPU (version %u%s)\n",
		       pmu->counters, pmu->bits, pmu->fixed, pmu->version,
		       pmu->version < 2 ? "; not available here: 2 is needed" : "");
	else
		puts("counters   not available here: the CPUs tell of no architectural performance "
		     "counters (CPUID leaf 0xa)");
}

static void print_info(const struct row *row)
{
	char user[64], since[32], cpus[256], nodes[128];

	user_name(row->job->uid, user, sizeof(user));
	format_time(row->info.since_ns, since, sizeof(since));
	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), row->job->lwk_cpus);
	hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), row->job->nodes);
	printf("job        %u of %s\nimage      %s (%s) as %s\nstate      %s since %s\n",
	       row->job->job_id, user, row->job->image, row->job->driver, row->job->device,
	       ms_instance_state_word(row->info.state), since);
	if (*row->info.message)
		printf("reason     %s\n", row->info.message);
	printf("CPUs       %s (%u)\nmemory     %ju MB on NUMA nodes %s, %u run%s, the largest "
	       "%ju MB\nprocesses  %u\n",
	       cpus, row->info.cpus, MB(row->info.memory), nodes, row->job->runs,
	       row->job->runs == 1 ? "" : "s", MB(row->job->largest_run), row->info.processes);
	print_pmu(&row->pmu);
}

int run_info(const struct options *options)
{
	struct ms_job job;
	struct row row = { .job = &job };
	struct ms_error err;
	uint32_t job_id;
	int got, status = EXIT_OK;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (!look_at(job_id, &row, &err))
		return fail(&err);
	got = ms_job_get(job_id, &job, &err);
	if (got == 0)
		got = ms_fail(&err, "job %u has just ended", job_id);
	if (got < 0)
		return fail(&err);
	if (options->json)
		status = print_json(row_to_json(&row));
	else
		print_info(&row);
	ms_job_release(&job);
	return status;
}

/* ---- stat ---- */

static uint64_t sum(const uint64_t *values, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += values[i];
	return total;
}

static void print_stat_header(void)
{
	puts("thr  --cpu %---------------  --memory MB-------------  --per second--------------------"
	     "-------");
	puts("      us   sy   de   id     used     peak   kernel  delegated      local   faults  "
	     "intr  dist");
}

/* What happened since then, or, if that is all zeros, since the LWK booted. */
static void print_stat(const struct ms_usage *now, const struct ms_counts *since)
{
	const struct ms_counts *total = &now->total;
	double us = total->user_ns - since->user_ns, sy = total->system_ns - since->system_ns;
	double de = total->delegating_ns - since->delegating_ns;
	double id = total->idle_ns - since->idle_ns, all = us + sy + de + id;
	double per = all > 0 ? 100 / all : 0;
	/* By the CPUs' own clock: their times add up to what has passed on each of them. */
	double rate = all > 0 ? 1e9 * now->n_cpus / all : 0;

	printf("%3u  %3.0f  %3.0f  %3.0f  %3.0f  %7ju  %7ju  %7ju  %9.0f  %9.0f  %7.0f  %4.0f  "
	       "%4.0f\n",
	       now->threads, us * per, sy * per, de * per, id * per, MB(now->memory_used),
	       MB(now->memory_peak), MB(now->kernel_used),
	       rate * (sum(total->delegated_calls, MS_CALL_KINDS) -
		       sum(since->delegated_calls, MS_CALL_KINDS)),
	       rate * (total->local_calls - since->local_calls),
	       rate * (total->faults - since->faults),
	       rate * (sum(total->interrupts, MS_INTERRUPTS) -
		       sum(since->interrupts, MS_INTERRUPTS)),
	       rate * (total->disturbances - since->disturbances));
	fflush(stdout);
}

static void print_sample(const struct ms_usage *usage, bool one_of_many)
{
	struct json_object *object = ms_usage_to_json(usage);

	if (one_of_many) {
		puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
		json_object_put(object);
		fflush(stdout);
	} else {
		print_json(object);
	}
}

/* Sleeps until the next multiple of the interval, so that samples do not drift. */
static void sleep_until(struct timespec *next, double interval)
{
	uint64_t ns = interval * 1e9;

	next->tv_sec += ns / 1000000000;
	next->tv_nsec += ns % 1000000000;
	if (next->tv_nsec >= 1000000000) {
		next->tv_nsec -= 1000000000;
		next->tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

/* interval 0: one sample. count 0: until the job ends. */
static int sample(struct ms_watch *watch, const struct options *options, double interval,
		  uint32_t count)
{
	struct ms_counts before = { 0 };
	struct ms_instance_info info;
	struct ms_usage usage;
	struct timespec next;
	struct ms_error err;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (uint32_t i = 0; !count || i < count; i++) {
		int got = ms_watch_info(watch, &info, &err);

		if (got == 0)
			got = ms_watch_usage(watch, &usage, &err);
		if (got < 0)
			return fail(&err);
		if (got == 0)
			break; /* it has ended */
		if (options->json) {
			print_sample(&usage, interval > 0);
		} else {
			if (i % 20 == 0)
				print_stat_header();
			print_stat(&usage, &before);
		}
		before = usage.total;
		ms_usage_release(&usage);
		if (ferror(stdout) || info.state == MS_INSTANCE_SHUTTING_DOWN)
			break;
		if (!count || i + 1 < count)
			sleep_until(&next, interval);
	}
	return ferror(stdout) ? EXIT_FAILED : EXIT_OK;
}

int run_stat(const struct options *options)
{
	double interval = 0;
	uint32_t job_id, count = 1;
	struct ms_watch *watch;
	struct ms_error err;
	int status;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (!interval_argument(options, &interval))
		return EXIT_USAGE;
	if (options->interval)
		count = 0;
	if (options->count && (!options->interval || !parse_id(options->count, &count) || !count))
		return usage_error("--count N, from 1, with --interval", options->count);
	if (ms_watch_open(job_id, &watch, &err) < 0)
		return fail(&err);
	status = sample(watch, options, interval, count);
	ms_watch_close(watch);
	return status;
}

/* ---- kmsg ---- */

/* The instance of that number, for root; there is no such job. */
static int print_instance_console(uint32_t instance)
{
	struct ms_error err;
	char *text;

	if (ms_kmsg(instance, &text, &err) < 0)
		return fail(&err);
	fputs(text, stdout);
	free(text);
	return EXIT_OK;
}

static int print_console(struct ms_watch *watch, bool follow, struct ms_error *err)
{
	struct ms_instance_info info;
	uint64_t position = 0;
	char text[4096];
	ssize_t got;

	for (;;) {
		/* The state first: what it wrote before it ended is printed. */
		if (ms_watch_info(watch, &info, err) < 0)
			return -1;
		while ((got = ms_watch_console(watch, &position, text, sizeof(text), err)) > 0)
			fwrite(text, 1, got, stdout);
		fflush(stdout);
		if (got < 0 || !follow || ferror(stdout) || info.state == MS_INSTANCE_SHUTTING_DOWN)
			return got;
		poll(NULL, 0, FOLLOW_MS);
	}
}

int run_kmsg(const struct options *options)
{
	struct ms_watch *watch;
	struct ms_error err;
	struct ms_job job;
	uint32_t id;
	int got;

	if (!job_argument(options, &id))
		return EXIT_USAGE;
	got = ms_job_get(id, &job, &err);
	if (got < 0)
		return fail(&err);
	if (got == 0 && geteuid() == 0 && !options->follow)
		return print_instance_console(id);
	if (got == 1)
		ms_job_release(&job);
	if (ms_watch_open(id, &watch, &err) < 0)
		return fail(&err);
	got = print_console(watch, options->follow, &err);
	ms_watch_close(watch);
	return got < 0 ? fail(&err) : EXIT_OK;
}

/* ---- events ---- */

static void print_event(enum ms_event event, const struct ms_instance_info *info)
{
	char when[32];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	format_time(now.tv_sec * 1000000000LL, when, sizeof(when));
	printf("%s.%03ld %s", when, now.tv_nsec / 1000000, ms_event_word(event));
	if (event == MS_EVENT_STATE)
		printf(" %s", ms_instance_state_word(info->state));
	if (*info->message && event <= MS_EVENT_HANG)
		printf(": %s", info->message);
	putchar('\n');
	fflush(stdout);
}

static int follow_events(struct ms_watch *watch, struct pollfd *fds, struct ms_error *err)
{
	struct ms_instance_info info;

	if (ms_watch_info(watch, &info, err) < 0)
		return -1;
	print_event(MS_EVENT_STATE, &info);
	while (info.state != MS_INSTANCE_SHUTTING_DOWN && !ferror(stdout)) {
		if (poll(fds, MS_EVENTS, -1) < 0 && errno != EINTR)
			return ms_fail(err, "poll: %m");
		if (ms_watch_info(watch, &info, err) < 0)
			return -1;
		for (size_t i = 0; i < MS_EVENTS; i++) {
			uint64_t count;

			if (read(fds[i].fd, &count, sizeof(count)) == sizeof(count))
				print_event(i, &info);
		}
	}
	return 0;
}

int run_events(const struct options *options)
{
	struct pollfd fds[MS_EVENTS] = { 0 };
	struct ms_watch *watch;
	struct ms_error err;
	uint32_t job_id;
	int ret = 0;
	size_t n = 0;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (ms_watch_open(job_id, &watch, &err) < 0)
		return fail(&err);
	while (ret == 0 && n < MS_EVENTS) {
		fds[n] =
			(struct pollfd){ .fd = ms_watch_eventfd(watch, n, &err), .events = POLLIN };
		if (fds[n].fd < 0)
			ret = -1;
		else
			n++;
	}
	if (ret == 0)
		ret = follow_events(watch, fds, &err);
	while (n-- > 0)
		close(fds[n].fd);
	ms_watch_close(watch);
	return ret < 0 ? fail(&err) : EXIT_OK;
}

/* ---- freeze, thaw ---- */

static int set_frozen(const struct options *options, bool frozen)
{
	struct ms_watch *watch;
	struct ms_error err;
	uint32_t job_id;
	int ret;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (ms_watch_open(job_id, &watch, &err) < 0)
		return fail(&err);
	ret = ms_watch_freeze(watch, frozen, FREEZE_MS, &err);
	ms_watch_close(watch);
	return ret < 0 ? fail(&err) : EXIT_OK;
}

int run_freeze(const struct options *options)
{
	return set_frozen(options, true);
}

int run_thaw(const struct options *options)
{
	return set_frozen(options, false);
}

/* ---- dump ---- */

int run_dump(const struct options *options)
{
	struct ms_error err;
	uint32_t job_id;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (options->n_arguments < 2)
		return usage_error("a job and a file", "no file");
	return ms_dump(job_id, options->arguments[1], &err) < 0 ? fail(&err) : EXIT_OK;
}
