// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl top: a live view of the LWKs of this node. */
#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "lwkctl/common.h"

#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"

#define REFRESH_MS 1000
/* A program that computes for so long without a system call may hang. */
#define TELL_AFTER_S 5
/* A CPU that did nothing but compute has done so for this share of the time between two looks. */
#define ONLY_COMPUTED 0.95

enum { COLOUR_USER = 1, COLOUR_SYSTEM, COLOUR_DELEGATING, COLOUR_BAD };

struct instance {
	uint32_t job_id;
	char user[33];
	char image[MS_IMAGE_NAME_MAX + 1];
	struct ms_watch *watch;
	struct ms_instance_info info;
	struct ms_usage now, before;
	double *computed_s; /* by CPU: since when its programs have made no system call */
	bool seen;	    /* the job was there at the last look */
};

struct view {
	uint32_t job_id; /* MS_ALL_JOBS: all */
	struct instance *instances;
	size_t n;
	int hidden; /* number of lines for which the terminal has no room */
};

/* ---- reading the instances ---- */

static void close_instance(struct instance *instance)
{
	ms_usage_release(&instance->now);
	ms_usage_release(&instance->before);
	free(instance->computed_s);
	ms_watch_close(instance->watch);
}

static const struct ms_counts *counts_before(const struct instance *instance, size_t i)
{
	static const struct ms_counts none;

	return i < instance->before.n_cpus ? &instance->before.cpus[i].counts : &none;
}

/* True when the CPU has done nothing but compute since the last look. Page faults are work, too. */
static bool only_computed(const struct instance *instance, size_t i)
{
	const struct ms_counts *then = counts_before(instance, i),
			       *now = &instance->now.cpus[i].counts;
	int64_t ns = instance->now.when_ns - instance->before.when_ns;

	return i < instance->before.n_cpus && !instance->now.cpus[i].torn && ns > 0 &&
	       now->user_ns - then->user_ns >= ONLY_COMPUTED * ns &&
	       now->local_calls == then->local_calls && now->faults == then->faults &&
	       memcmp(now->delegated_calls, then->delegated_calls, sizeof(now->delegated_calls)) ==
		       0;
}

static void note_computing(struct instance *instance)
{
	double seconds = (instance->now.when_ns - instance->before.when_ns) / 1e9;

	if (!instance->computed_s)
		instance->computed_s = calloc(instance->now.n_cpus, sizeof(double));
	for (size_t i = 0; instance->computed_s && i < instance->now.n_cpus; i++)
		instance->computed_s[i] =
			only_computed(instance, i) ? instance->computed_s[i] + seconds : 0;
}

static struct instance *find_instance(struct view *view, const struct ms_job *job)
{
	struct instance *more;
	struct instance fresh = { .job_id = job->job_id };
	struct ms_error ignored;

	for (size_t i = 0; i < view->n; i++) {
		if (view->instances[i].job_id == job->job_id)
			return &view->instances[i];
	}
	/* The call fails for a job that has just ended. */
	if (ms_watch_open(job->job_id, &fresh.watch, &ignored) < 0)
		return NULL;
	more = reallocarray(view->instances, view->n + 1, sizeof(*more));
	if (!more) {
		ms_watch_close(fresh.watch);
		return NULL;
	}
	format_user(job->uid, fresh.user, sizeof(fresh.user));
	snprintf(fresh.image, sizeof(fresh.image), "%s", job->image);
	view->instances = more;
	more[view->n] = fresh;
	return &more[view->n++];
}

static void read_instance(struct instance *instance)
{
	struct ms_error ignored;
	struct ms_usage usage;

	if (ms_watch_info(instance->watch, &instance->info, &ignored) < 0 ||
	    instance->info.state == MS_INSTANCE_SHUTTING_DOWN ||
	    ms_watch_usage(instance->watch, &usage, &ignored) < 1)
		return;
	ms_usage_release(&instance->before);
	instance->before = instance->now;
	instance->now = usage;
	instance->seen = true;
	note_computing(instance);
}

static int look(struct view *view, struct ms_error *err)
{
	struct ms_job *jobs;
	size_t n, kept = 0;

	if (ms_job_list(&jobs, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < view->n; i++)
		view->instances[i].seen = false;
	for (size_t i = 0; i < n; i++) {
		struct instance *instance = NULL;

		if (jobs[i].state == MS_JOB_ACTIVE &&
		    (view->job_id == MS_ALL_JOBS || view->job_id == jobs[i].job_id) &&
		    (geteuid() == 0 || jobs[i].uid == geteuid()))
			instance = find_instance(view, &jobs[i]);
		if (instance)
			read_instance(instance);
	}
	ms_job_list_free(jobs, n);
	for (size_t i = 0; i < view->n; i++) {
		if (view->instances[i].seen)
			view->instances[kept++] = view->instances[i];
		else
			close_instance(&view->instances[i]);
	}
	view->n = kept;
	return 0;
}

/* ---- drawing ---- */

/* Moves to the next line; false when the terminal is full. */
static bool next_line(struct view *view, int *line)
{
	if (*line + 1 >= LINES) {
		view->hidden++;
		return false;
	}
	move((*line)++, 0);
	return true;
}

static void draw_part(char mark, int colour, int width)
{
	attron(COLOR_PAIR(colour));
	for (int i = 0; i < width; i++)
		addch(mark);
	attroff(COLOR_PAIR(colour));
}

static void draw_cpu(const struct instance *instance, size_t i)
{
	const struct ms_cpu_usage *cpu = &instance->now.cpus[i];
	const struct ms_counts *then = counts_before(instance, i), *now = &cpu->counts;
	double user = now->user_ns - then->user_ns, system = now->system_ns - then->system_ns;
	double delegating = now->delegating_ns - then->delegating_ns;
	double all = user + system + delegating + (now->idle_ns - then->idle_ns);
	int width = COLS > 72 ? COLS - 56 : 16;
	int us = all > 0 ? user / all * width + 0.5 : 0;
	int sy = all > 0 ? system / all * width + 0.5 : 0;
	int de = all > 0 ? delegating / all * width + 0.5 : 0;

	/* Three lengths that are rounded up must not be longer than the bar together. */
	sy = us + sy > width ? width - us : sy;
	de = us + sy + de > width ? width - us - sy : de;
	printw("  CPU %-4u [", cpu->cpu);
	draw_part('|', COLOUR_USER, us);
	draw_part('+', COLOUR_SYSTEM, sy);
	draw_part('d', COLOUR_DELEGATING, de);
	printw("%*s] %3.0f%% %s", width - us - sy - de, "",
	       all > 0 ? 100 * (user + system) / all : 0.0,
	       cpu->torn ? "?" : ms_cpu_doing_word(cpu->doing));
	if (instance->computed_s && instance->computed_s[i] >= TELL_AFTER_S)
		printw(", %.0f s without a call", instance->computed_s[i]);
}

static void draw_instance(struct view *view, const struct instance *instance, int *line)
{
	const struct ms_instance_info *info = &instance->info;
	bool bad = info->state == MS_INSTANCE_PANIC || info->state == MS_INSTANCE_HUNG;

	if (next_line(view, line)) {
		attron(A_BOLD | (bad ? COLOR_PAIR(COLOUR_BAD) : 0));
		printw("job %u  %s  %s  %s  %u processes  %ju of %ju MB, at most %ju",
		       instance->job_id, instance->user, instance->image,
		       ms_instance_state_word(info->state), info->processes,
		       MB(instance->now.memory_used), MB(instance->now.memory),
		       MB(instance->now.memory_peak));
		attroff(A_BOLD | COLOR_PAIR(COLOUR_BAD));
	}
	if (*info->message && next_line(view, line))
		printw("  %s", info->message);
	for (size_t i = 0; i < instance->now.n_cpus; i++) {
		if (next_line(view, line))
			draw_cpu(instance, i);
	}
}

static void draw(struct view *view)
{
	char host[65] = "", clock[16];
	time_t now = time(NULL);
	struct tm tm;
	int line = 0;

	gethostname(host, sizeof(host) - 1);
	strftime(clock, sizeof(clock), "%T", localtime_r(&now, &tm));
	erase();
	view->hidden = 0;
	if (next_line(view, &line))
		printw("%s %s  %zu LWK%s   | user  + system  d delegating   q: quit", host, clock,
		       view->n, view->n == 1 ? "" : "s");
	for (size_t i = 0; i < view->n; i++)
		draw_instance(view, &view->instances[i], &line);
	if (view->hidden && LINES > 0)
		mvprintw(LINES - 1, 0, "... %d more lines", view->hidden);
	refresh();
}

/* ---- the terminal ---- */

static SCREEN *open_screen(struct ms_error *err)
{
	SCREEN *screen;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		ms_fail(err, "top: expected a terminal, found none; 'lwkctl stat JOB --interval 1' "
			     "prints to anything");
		return NULL;
	}
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		ms_fail(err, "top does not know the terminal \"%s\"; set TERM",
			getenv("TERM") ? getenv("TERM") : "");
		return NULL;
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (has_colors() && start_color() == OK) {
		use_default_colors();
		init_pair(COLOUR_USER, COLOR_GREEN, -1);
		init_pair(COLOUR_SYSTEM, COLOR_RED, -1);
		init_pair(COLOUR_DELEGATING, COLOR_BLUE, -1);
		init_pair(COLOUR_BAD, COLOR_RED, -1);
	}
	return screen;
}

/* Signals come through a descriptor, so that only watch_instances() closes the screen. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Waits until the screen must be drawn again; false when the user or a signal ends the view. */
static bool wait_for_user(int signals, int timeout_ms)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	int key;

	/* EINTR means that the size of the terminal has changed. */
	if (poll(fds, 2, timeout_ms) < 0 && errno != EINTR)
		return false;
	if (fds[1].revents || fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	while ((key = getch()) != ERR) {
		if (key == 'q' || key == 'Q')
			return false;
	}
	return true;
}

static int watch_instances(struct view *view, int timeout_ms, struct ms_error *err)
{
	int signals = open_signals();
	SCREEN *screen = signals < 0 ? NULL : open_screen(err);
	int ret = screen ? 0 : -1;

	if (signals < 0)
		return ms_fail(err, "signalfd: %m");
	while (ret == 0) {
		ret = look(view, err);
		if (ret == 0)
			draw(view);
		if (ret < 0 || !wait_for_user(signals, timeout_ms))
			break;
	}
	if (screen) {
		endwin();
		delscreen(screen);
	}
	close(signals);
	return ret;
}

static int run(const struct options *options)
{
	struct view view = { .job_id = MS_ALL_JOBS };
	struct ms_error err;
	double interval = REFRESH_MS / 1e3;
	int ret;

	if (options->n_arguments && !job_argument(options, &view.job_id))
		return EXIT_USAGE;
	if (!interval_argument(options, &interval))
		return EXIT_USAGE;
	ret = watch_instances(&view, interval * 1000, &err);
	for (size_t i = 0; i < view.n; i++)
		close_instance(&view.instances[i]);
	free(view.instances);
	return ret < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_top = {
	.name = "top",
	.summary = "Show live what your jobs' LWKs do",
	.help = "Shows live what the LWKs of your jobs do, or that of JOB alone: for each CPU a bar of its "
		"time in programs (|), in the LWK (+) and waiting for system calls delegated to Linux (d). "
		"Programs that compute for long without a system call, as those that hang in a "
		"busy wait do, are named so. "
		"The key q quits. Root sees all.",
	.arguments = "[JOB]",
	.most_arguments = 1,
	.options =
		(const struct argp_option[]){
			INTERVAL_OPTION("Look every SECONDS (0.001 to 86400; 1 by default)"),
			{ 0 } },
	.run = run,
};
