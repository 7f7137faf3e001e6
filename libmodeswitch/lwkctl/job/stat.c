// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl stat: what a job's LWK has done, since it booted and in each interval. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

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

/* Prints the changes since the counts 'since'; all zeros mean since the LWK booted. */
static void print_stat(const struct ms_usage *now, const struct ms_counts *since)
{
	const struct ms_counts *total = &now->total;
	double us = total->user_ns - since->user_ns, sy = total->system_ns - since->system_ns;
	double de = total->delegating_ns - since->delegating_ns;
	double id = total->idle_ns - since->idle_ns, all = us + sy + de + id;
	double per = all > 0 ? 100 / all : 0;
	/* The times of a CPU add up to the time that has passed, which gives the rates. */
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

/*
 * Prints 'count' samples, 'interval' seconds apart; count 0: until the job ends. Interval 0 is for
 * a single sample, whose JSON is printed over several lines.
 */
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
			break; /* the job has ended */
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

static int run(const struct options *options)
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

const struct verb verb_stat = {
	.name = "stat",
	.summary = "Print what a job's LWK has done",
	.help = "Prints a line about what the LWK of JOB has done since it booted. With --interval, each "
		"further line tells what it has done since the line before. The LWK is not interrupted.",
	.arguments = "JOB",
	.most_arguments = 1,
	.options =
		(const struct argp_option[]){
			INTERVAL_OPTION(
				"Print a line every SECONDS (0.001 to 86400), until the job ends"),
			COUNT_OPTION("Stop after N lines"),
			JSON_OPTION,
			{ 0 } },
	.run = run,
};
