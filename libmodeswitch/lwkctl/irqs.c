// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl irqs: which interrupts come to which CPU, Linux's and a job's LWK's.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

#define DEFAULT_INTERVAL 2.0
#define BAR_WIDTH 40

enum { OPTION_WATCH = OPTION_OWN };

static bool watch_on;

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key != OPTION_WATCH)
		return ARGP_ERR_UNKNOWN;
	watch_on = true;
	return 0;
}

/* What has come so far, at one moment. */
struct reading {
	struct ms_irqs os;
	struct ms_usage lwk; /* no CPUs: there is no job, or it is over */
	struct timespec when;
};

/* What came between two readings, or until one, for each second. */
struct report {
	const struct reading *now, *before; /* before: may be NULL */
	const struct ms_job *job;	    /* may be NULL */
	double seconds;
};

struct spread {
	double min, mean, max;
};

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

/* ---- numbers ---- */

static const struct ms_irq *find_irq(const struct ms_irqs *irqs, const char *name)
{
	for (size_t i = 0; i < irqs->n_irqs; i++) {
		if (strcmp(irqs->irqs[i].name, name) == 0)
			return &irqs->irqs[i];
	}
	return NULL;
}

/* CPUs that come or go change places. */
static uint64_t count_before(const struct report *report, const struct ms_irq *irq, unsigned cpu)
{
	const struct ms_irqs *irqs = report->before ? &report->before->os : NULL;
	const struct ms_irq *was = irqs ? find_irq(irqs, irq->name) : NULL;

	for (size_t i = 0; was && i < irqs->n_cpus; i++) {
		if (irqs->cpus[i] == cpu)
			return was->counts[i];
	}
	return 0;
}

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

static double irq_rate(const struct report *report, const struct ms_irq *irq, size_t place)
{
	return rate(irq->counts[place], count_before(report, irq, report->now->os.cpus[place]),
		    report->seconds);
}

static double linux_rate(const struct report *report, size_t place, bool devices)
{
	const struct ms_irqs *irqs = &report->now->os;
	double sum = 0;

	for (size_t i = 0; i < irqs->n_irqs; i++) {
		if (irqs->irqs[i].device == devices)
			sum += irq_rate(report, &irqs->irqs[i], place);
	}
	return sum;
}

static uint64_t lwk_count(const struct ms_cpu_usage *cpu)
{
	uint64_t sum = 0;

	for (int i = 0; i < MS_INTERRUPTS; i++)
		sum += cpu->counts.interrupts[i];
	return sum;
}

static double lwk_rate(const struct report *report, size_t place)
{
	const struct ms_usage *before = report->before ? &report->before->lwk : NULL;
	uint64_t was = before && place < before->n_cpus ? lwk_count(&before->cpus[place]) : 0;
	double seconds = report->seconds;

	/* Its counts begin with it. */
	if (!before && time(NULL) > report->job->since)
		seconds = time(NULL) - report->job->since;
	return rate(lwk_count(&report->now->lwk.cpus[place]), was, seconds);
}

/* The job's CPUs are the LWK's, or, for a job without one, Linux's. */
static bool is_quiet(const struct report *report)
{
	return report->job->state == MS_JOB_QUIET;
}

static void add_to_spread(struct spread *spread, size_t n, double one)
{
	spread->min = n && spread->min < one ? spread->min : one;
	spread->max = spread->max > one ? spread->max : one;
	spread->mean = (spread->mean * n + one) / (n + 1);
}

static struct spread lwk_spread(const struct report *report)
{
	struct spread spread = { 0 };

	for (size_t i = 0; i < report->now->lwk.n_cpus; i++)
		add_to_spread(&spread, i, lwk_rate(report, i));
	return spread;
}

static struct spread quiet_spread(const struct report *report)
{
	const struct ms_irqs *irqs = &report->now->os;
	struct spread spread = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < irqs->n_cpus; i++) {
		if (hwloc_bitmap_isset(report->job->linux_cpus, irqs->cpus[i]))
			add_to_spread(&spread, n++, linux_rate(report, i, true));
	}
	return spread;
}

static struct spread job_spread(const struct report *report)
{
	return is_quiet(report) ? quiet_spread(report) : lwk_spread(report);
}

/* ---- text ---- */

static void print_sources(const struct report *report)
{
	const struct ms_irqs *irqs = &report->now->os;

	printf("%-38s %12s  %s\n", "SOURCE", "PER SECOND", "MOST ON");
	for (size_t i = 0; i < irqs->n_irqs; i++) {
		double sum = 0, most = 0;
		unsigned cpu = 0;
		char name[96];

		for (size_t place = 0; place < irqs->n_cpus; place++) {
			double one = irq_rate(report, &irqs->irqs[i], place);

			sum += one;
			if (one > most) {
				most = one;
				cpu = irqs->cpus[place];
			}
		}
		if (sum == 0)
			continue;
		snprintf(name, sizeof(name), "%s %s", irqs->irqs[i].name, irqs->irqs[i].label);
		printf("%-38.38s %12.1f  CPU %u (%.0f %%)\n", name, sum, cpu, 100 * most / sum);
	}
}

static void print_bar(double devices, double others, double full)
{
	int length = full > 0 ? (devices + others) * BAR_WIDTH / full + 0.5 : 0;
	int of_devices = full > 0 ? devices * BAR_WIDTH / full + 0.5 : 0;

	for (int i = 0; i < length; i++)
		putchar(i < of_devices ? '#' : '+');
	putchar('\n');
}

static void print_cpus(const struct report *report)
{
	const struct ms_irqs *irqs = &report->now->os;
	const struct ms_usage *lwk = &report->now->lwk;
	double full = 0;

	for (size_t i = 0; i < irqs->n_cpus; i++) {
		double one = linux_rate(report, i, true) + linux_rate(report, i, false);

		full = full > one ? full : one;
	}
	for (size_t i = 0; i < lwk->n_cpus; i++)
		full = full > lwk_rate(report, i) ? full : lwk_rate(report, i);
	printf("\n%-10s %10s %10s  # of devices, + others\n", "CPU", "DEVICES", "OTHERS");
	for (size_t i = 0; i < irqs->n_cpus; i++) {
		double devices = linux_rate(report, i, true), others = linux_rate(report, i, false);

		printf("%-10u %10.1f %10.1f  |", irqs->cpus[i], devices, others);
		print_bar(devices, others, full);
	}
	for (size_t i = 0; i < lwk->n_cpus; i++) {
		printf("%-4u LWK   %10.1f %10.1f  |", lwk->cpus[i].cpu, 0.0, lwk_rate(report, i));
		print_bar(0, lwk_rate(report, i), full);
	}
}

static void print_job(const struct report *report)
{
	struct spread now = job_spread(report);
	const struct ms_job *job = report->job;
	char cpus[256];

	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus),
				   is_quiet(report) ? job->linux_cpus : job->lwk_cpus);
	printf("\njob %u, %s on CPUs %s, interrupts of a CPU per second:\n"
	       "  %-28s min %8.1f  max %8.1f  mean %8.1f\n"
	       "  %-28s min %8.1f  max %8.1f  mean %8.1f\n",
	       job->job_id, is_quiet(report) ? "quiet" : "LWK", cpus, "before, from boot, devices'",
	       job->irqs_before.min, job->irqs_before.max, job->irqs_before.mean,
	       is_quiet(report) ? "now, devices'" : "with the LWK, of any kind", now.min, now.max,
	       now.mean);
}

/* ---- JSON ---- */

static struct json_object *cpu_to_json(unsigned cpu, bool lwk, double devices, double others)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "cpu", cpu);
	json_add_flag(object, "lwk", lwk);
	json_add_double(object, "devices", devices);
	json_add_double(object, "others", others);
	return object;
}

static struct json_object *irq_to_json(const struct report *report, const struct ms_irq *irq)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_object();
	char name[16];

	json_add_text(object, "irq", irq->name);
	json_add_text(object, "name", irq->label);
	json_add_flag(object, "device", irq->device);
	for (size_t i = 0; i < report->now->os.n_cpus; i++) {
		snprintf(name, sizeof(name), "%u", report->now->os.cpus[i]);
		json_add_double(cpus, name, irq_rate(report, irq, i));
	}
	json_object_object_add(object, "cpus", cpus);
	return object;
}

static struct json_object *spread_to_json(double min, double max, double mean)
{
	struct json_object *object = json_object_new_object();

	json_add_double(object, "min", min);
	json_add_double(object, "max", max);
	json_add_double(object, "mean", mean);
	return object;
}

static struct json_object *report_to_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_array(), *sources = json_object_new_array();
	const struct ms_irqs *irqs = &report->now->os;
	const struct ms_usage *lwk = &report->now->lwk;

	json_add_double(object, "seconds", report->seconds);
	for (size_t i = 0; i < irqs->n_cpus; i++)
		json_object_array_add(cpus,
				      cpu_to_json(irqs->cpus[i], false, linux_rate(report, i, true),
						  linux_rate(report, i, false)));
	for (size_t i = 0; i < lwk->n_cpus; i++)
		json_object_array_add(cpus,
				      cpu_to_json(lwk->cpus[i].cpu, true, 0, lwk_rate(report, i)));
	for (size_t i = 0; i < irqs->n_irqs; i++)
		json_object_array_add(sources, irq_to_json(report, &irqs->irqs[i]));
	json_object_object_add(object, "cpus", cpus);
	json_object_object_add(object, "sources", sources);
	if (report->job) {
		struct spread now = job_spread(report);
		const struct ms_job *job = report->job;

		json_add_number(object, "job_id", job->job_id);
		json_object_object_add(object, "before",
				       spread_to_json(job->irqs_before.min, job->irqs_before.max,
						      job->irqs_before.mean));
		json_object_object_add(object, "during",
				       spread_to_json(now.min, now.max, now.mean));
	}
	return object;
}

/* ---- the verb ---- */

static void print_report(const struct options *options, const struct report *report)
{
	if (options->json) {
		print_json(report_to_json(report));
		return;
	}
	print_sources(report);
	print_cpus(report);
	if (report->job)
		print_job(report);
	fflush(stdout);
}

/* From boot, or from the LWK's boot. */
static int report_all(const struct options *options, struct ms_watch *watch,
		      const struct ms_job *job)
{
	struct reading now;
	struct report report = { .now = &now, .job = job };
	struct ms_error err;

	if (read_all(watch, &now, &err) < 0)
		return fail(&err);
	report.seconds = now.when.tv_sec + now.when.tv_nsec / 1e9;
	print_report(options, &report);
	release(&now);
	return EXIT_OK;
}

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
	return (b->tv_sec - a->tv_sec) + (b->tv_nsec - a->tv_nsec) / 1e9;
}

/* Unless a signal comes. */
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

/* ^C is how a watch ends, and no failure; what is being printed is printed whole. */
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

/* Each interval: 'count' times, or with 0 until a signal comes, or the job's end. */
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
		print_report(options, &report);
		release(&readings[!now]);
	}
	release(&readings[now]);
	return EXIT_OK;
}

static int report_for(const struct options *options, struct ms_watch *watch,
		      const struct ms_job *job)
{
	double interval = DEFAULT_INTERVAL;
	uint32_t count = watch_on ? 0 : 1;

	if (!interval_argument(options, &interval))
		return EXIT_USAGE;
	if (options->count && (!parse_id(options->count, &count) || !count))
		return usage_error("--count, a number from 1 on", options->count);
	if (!watch_on && !options->interval && !options->count)
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
