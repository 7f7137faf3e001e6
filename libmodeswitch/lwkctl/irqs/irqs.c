// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl irqs: reads the counts of interrupts, once or each interval, and reports them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lwkctl/common.h"
#include "lwkctl/irqs/rates.h"
#include "lwkctl/irqs/report.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

#define DEFAULT_INTERVAL 2.0

enum { OPTION_WATCH = OPTION_OWN };

static bool endless;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_WATCH)
		return ARGP_ERR_UNKNOWN;
	endless = true;
	return 0;
}

static void release(struct reading *reading)
{
	ms_irqs_release(&reading->os);
	if (reading->lwk.n_cpus)
		ms_usage_release(&reading->lwk);
	memset(&reading->lwk, 0, sizeof(reading->lwk));
}

static int read_all(struct ms_watch *watch, struct reading *reading, struct ms_error *err)
{
	memset(reading, 0, sizeof(*reading));
	if (ms_irqs_read(&reading->os, err) < 0)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &reading->when);
	if (!watch || ms_watch_usage(watch, &reading->lwk, err) >= 0)
		return 0;
	ms_irqs_release(&reading->os);
	return -1;
}

/* Reports the means since the node booted, and for an LWK since the LWK booted. */
static int report_all(const struct options *options, struct ms_watch *watch,
		      const struct ms_job *job)
{
	struct reading now;
	struct report report = { .now = &now, .job = job };
	struct ms_error err;

	if (read_all(watch, &now, &err) < 0)
		return fail(&err);
	report.seconds = now.when.tv_sec + now.when.tv_nsec / 1e9;
	report_print(&report, options->json);
	release(&now);
	return EXIT_OK;
}

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
	return (b->tv_sec - a->tv_sec) + (b->tv_nsec - a->tv_nsec) / 1e9;
}

/* Returns early when a signal comes. */
static void sleep_for(double seconds)
{
	struct timespec time = { .tv_sec = seconds,
				 .tv_nsec = (seconds - (time_t)seconds) * 1000000000 };

	nanosleep(&time, NULL);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = number;
}

/* ^C is the usual end of --watch, and no failure. A report that has begun is printed whole. */
static void end_by_signal(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static bool has_ended(const struct ms_job *job, const struct reading *now)
{
	struct ms_error ignored;
	struct ms_job again;
	bool ended;

	if (!job)
		return false;
	if (job->state != MS_JOB_QUIET)
		return now->lwk.n_cpus == 0;
	ended = ms_job_get(job->job_id, &again, &ignored) < 1;
	if (!ended)
		ms_job_release(&again);
	return ended;
}

/* Reports 'count' intervals; 0: goes on until a signal comes or the job ends. */
static int report_changes(const struct options *options, double interval, unsigned long count,
			  struct ms_watch *watch, const struct ms_job *job)
{
	struct reading readings[2];
	struct ms_error err;
	int now = 0;

	end_by_signal();
	if (read_all(watch, &readings[now], &err) < 0)
		return fail(&err);
	for (unsigned long i = 0; !count || i < count; i++) {
		struct report report = { .before = &readings[now], .job = job };

		sleep_for(interval);
		if (interrupted)
			break;
		now = !now;
		if (read_all(watch, &readings[now], &err) < 0) {
			release(&readings[!now]);
			return fail(&err);
		}
		if (has_ended(job, &readings[now])) {
			release(&readings[!now]);
			break;
		}
		report.now = &readings[now];
		report.seconds = seconds_between(&readings[!now].when, &readings[now].when);
		if (i && !options->json)
			putchar('\n');
		report_print(&report, options->json);
		release(&readings[!now]);
	}
	release(&readings[now]);
	return EXIT_OK;
}

static int report_for(const struct options *options, struct ms_watch *watch,
		      const struct ms_job *job)
{
	double interval = DEFAULT_INTERVAL;
	uint32_t count = endless ? 0 : 1;

	if (!interval_argument(options, &interval))
		return EXIT_USAGE;
	if (options->count && (!parse_id(options->count, &count) || !count))
		return usage_error("--count, a number from 1 on", options->count);
	if (!endless && !options->interval && !options->count)
		return report_all(options, watch, job);
	return report_changes(options, interval, count, watch, job);
}

static int run(const struct options *options)
{
	struct ms_watch *watch = NULL;
	struct ms_error err;
	struct ms_job job;
	uint32_t job_id;
	int found, status;

	if (!options->n_arguments)
		return report_for(options, NULL, NULL);
	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	found = ms_job_get(job_id, &job, &err);
	if (found == 0)
		ms_fail(&err,
			"this node knows no LWK job %u, nor a job of that number with --quiet-irqs; "
			"see lwkctl status",
			job_id);
	if (found < 1)
		return fail(&err);
	if (job.state != MS_JOB_QUIET && ms_watch_open(job_id, &watch, &err) < 0) {
		ms_job_release(&job);
		return fail(&err);
	}
	status = report_for(options, watch, &job);
	ms_watch_close(watch);
	ms_job_release(&job);
	return status;
}

const struct verb verb_irqs = {
	.name = "irqs",
	.summary = "Show which interrupts come to which CPU",
	.help = "Shows how many interrupts per second come to which CPU and from which source, on average "
		"since the node booted. With JOB, which has an LWK or --quiet-irqs, it also shows the least, "
		"most and mean of the job's CPUs before the job and now; an LWK counts its own interrupts.",
	.arguments = "[JOB]",
	.most_arguments = 1,
	.options =
		(const struct argp_option[]){
			FLAG("watch", OPTION_WATCH,
			     "Show each interval, until ^C, --count or the end of the job"),
			INTERVAL_OPTION("Show the next SECONDS (0.001 to 86400; 2 by default)"),
			COUNT_OPTION("Show N intervals"),
			JSON_OPTION,
			{ 0 } },
	.parse = parse,
	.run = run,
};
