// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/home/rehome.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/child.h"
#include "base/files.h"
#include "base/process.h"
#include "migrate/home/away_list.h"
#include "migrate/migrate.h"
#include "modeswitch/config.h"
#include "modeswitch/migrate.h"
#include "store/state.h"

/* A process can keep whoever looks at its memory waiting; Linux itself does so for seconds. */
#define PATIENCE_MS 60000
/* Nothing moves during a switch: microseconds between two looks whether it has ended. */
#define LOOK_US 200000
/*
 * Processes that keep their memory maps locked, as the kernel does for them for a while in long calls, are tried
 * again so often, after all others; the first time after so long, then after twice the time before.
 */
#define LOCKED_TRIES 7
#define LOCKED_US 100000

/* A job with a journal still has its memory, or may have. */
static bool has_journal(uint32_t lwk_job)
{
	int dir = state_open_jobs_readonly();
	char name[32];
	bool has;

	if (dir < 0)
		return false;
	snprintf(name, sizeof(name), "%u.journal", lwk_job);
	has = faccessat(dir, name, F_OK, 0) == 0;
	close(dir);
	return has;
}

void rehome_start(void)
{
	static const char *const rehome[] = { LWKCTL_PATH, "rehome", NULL };
	struct ms_error ignored;
	bool any = false;
	uint32_t *jobs;
	ssize_t n = away_list_jobs(&jobs, &ignored);
	int error;

	for (ssize_t i = 0; i < n; i++)
		any |= !has_journal(jobs[i]);
	free(jobs);
	error = any ? child_detach(rehome) : 0;
	if (error)
		syslog(LOG_DAEMON | LOG_WARNING, "slurm-lwk: %s rehome cannot be started: %s",
		       LWKCTL_PATH, strerror(-error));
}

void ms_rehome_resume(void)
{
	rehome_start();
}

static int open_lock(const char *name, struct ms_error *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", state_dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? ms_fail(err, "%s: %m", path) : fd;
}

/* A switch has precedence, because its pages move the other way. */
static bool switch_is_on(void *context)
{
	const int *lock = context;

	if (flock(*lock, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(*lock, LOCK_UN);
	return false;
}

/* Stops the child that moves pages, which has none of our files and opens the lock for itself. */
static bool must_stop(void *context)
{
	int *lock = context;
	struct ms_error ignored;

	if (*lock < 0)
		*lock = open_lock("lock", &ignored);
	return *lock >= 0 && switch_is_on(lock);
}

static int move_home(const struct ms_config *config, unsigned node,
		     const struct migrate_selection *homes, size_t n,
		     struct ms_migrate_state *state, struct ms_error *err)
{
	int lock = -1;
	struct ms_migrate_request request = {
		.from = hwloc_bitmap_alloc(),
		.to = hwloc_bitmap_alloc(),
		.method = MS_ADAPTIVE,
		.sleep_ms = 0,
		.cpu_percent = config->rehome_cpu < 100 ? config->rehome_cpu : 0,
		.bandwidth = config->rehome_rate,
		.stop = must_stop,
		.context = &lock,
	};
	hwloc_bitmap_t from = (hwloc_bitmap_t)request.from, to = (hwloc_bitmap_t)request.to;
	int ret;

	if (!from || !to || kernel_read_list(from, "/sys/devices/system/node/has_memory") < 0) {
		ret = ms_fail(err, "the NUMA nodes that have memory cannot be read");
	} else {
		hwloc_bitmap_clr(from, node);
		hwloc_bitmap_set(to, node);
		ret = migrate_selected(&request, homes, n, PATIENCE_MS, state, err);
	}
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(to);
	return ret;
}

/*
 * Brings back the pages of one node: lines from *at on, which becomes the next node's. 0, or a negative number as
 * migrate_selected().
 */
static int bring_node(const struct ms_config *config, const struct away_lines *lines, size_t *at,
		      struct ms_migrate_state *state, struct ms_error *err)
{
	unsigned node = lines->all[*at].node;
	struct migrate_selection *homes = calloc(lines->n, sizeof(*homes)), *home = NULL;
	struct migrate_range *ranges = calloc(lines->n, sizeof(*ranges));
	size_t n = 0, i;
	int ret;

	*state = (struct ms_migrate_state){ 0 };
	for (i = *at; homes && ranges && i < lines->n && lines->all[i].node == node; i++) {
		const struct away_line *line = &lines->all[i];

		if (!home || home->pid != line->pid || home->started != line->started) {
			home = &homes[n++];
			*home = (struct migrate_selection){ line->pid, line->started, ranges + i,
							    0 };
		}
		ranges[i] = line->range;
		home->n++;
	}
	*at = i;
	ret = home ? move_home(config, node, homes, n, state, err) : ms_fail(err, "out of memory");
	free(homes);
	free(ranges);
	return ret;
}

/* The result of bringing a job's pages home. */
enum home_result {
	HOME_DONE,
	HOME_STOPPED, /* a switch has begun meanwhile */
	HOME_LOCKED,  /* all are, but those of processes that keep their memory maps locked */
	HOME_FAILED,
};

/* Brings back all pages in a job's file. */
static enum home_result bring_job(const struct ms_config *config, uint32_t lwk_job, ms_say say,
				  void *context, struct ms_error *err)
{
	struct away_lines lines = { NULL, 0 };
	struct ms_migrate_state state;
	enum home_result result = HOME_DONE;
	char text[256];

	if (away_list_read(lwk_job, &lines, err) < 0)
		result = HOME_FAILED;
	for (size_t at = 0; (result == HOME_DONE || result == HOME_LOCKED) && at < lines.n;) {
		unsigned node = lines.all[at].node;
		int ret = bring_node(config, &lines, &at, &state, err);

		if (ret < 0 && ret != -EBUSY)
			result = HOME_FAILED;
		else if (state.stopped)
			result = HOME_STOPPED;
		else if (ret < 0)
			result = HOME_LOCKED;
		if (!state.moved)
			continue;
		snprintf(text, sizeof(text),
			 "%ju MB of Linux jobs' memory are back on NUMA node %u, which LWK job %u "
			 "had taken",
			 (uintmax_t)(state.moved >> 20), node, lwk_job);
		syslog(LOG_DAEMON | LOG_NOTICE, "slurm-lwk: %s", text);
		say(text, context);
	}
	free(lines.all);
	return result;
}

/* Brings back all pages in a job's file, as soon as no switch goes on, and removes the file if they are. */
static enum home_result bring_or_keep(const struct ms_config *config, uint32_t lwk_job, int lock,
				      ms_say say, void *context, struct ms_error *err)
{
	enum home_result result;

	do {
		while (switch_is_on(&lock))
			usleep(LOOK_US);
		/* The job still has its memory, or has it again. */
		if (has_journal(lwk_job))
			return HOME_DONE;
		result = config->rehome ? bring_job(config, lwk_job, say, context, err) : HOME_DONE;
	} while (result == HOME_STOPPED);
	if (result == HOME_DONE)
		away_list_remove(lwk_job);
	return result;
}

/* After an error it goes on with the next job, and the file stays. *err has the first error. */
static int bring_all(const struct ms_config *config, int lock, ms_say say, void *context,
		     struct ms_error *err)
{
	uint32_t *jobs;
	ssize_t n = away_list_jobs(&jobs, err), left = n, at;
	enum home_result result;
	struct ms_error why;
	int ret = n < 0 ? -1 : 0;

	for (int try = 0; left > 0; try++) {
		/* The list keeps those that are tried again. */
		for (at = 0, n = left, left = 0; at < n; at++) {
			result = bring_or_keep(config, jobs[at], lock, say, context, &why);
			if (result == HOME_LOCKED && try < LOCKED_TRIES)
				jobs[left++] = jobs[at];
			else if (result != HOME_DONE && ret == 0)
				ret = ms_fail(err, "%s", why.text);
		}
		if (left)
			usleep(LOCKED_US << try);
	}
	free(jobs);
	return ret;
}

static bool is_marked(int turn)
{
	struct stat st;

	return fstat(turn, &st) == 0 && st.st_size > 0;
}

/*
 * One process at a time brings pages back. The size of its file is a mark that there may be more to bring:
 * each process sets it before it tries for the turn, and the one that has had the turn looks for it after
 * giving the turn back. So a process that finds the turn taken can leave.
 */
static int take_turns(const struct ms_config *config, int turn, int lock, ms_say say, void *context,
		      struct ms_error *err)
{
	bool had = false;
	int ret = 0;

	if (ftruncate(turn, 1) < 0)
		return ms_fail(err, "%s/rehome.lock: %m", state_dir);
	while (is_marked(turn)) {
		if (flock(turn, LOCK_EX | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK)
				return ms_fail(err, "%s/rehome.lock: %m", state_dir);
			if (!had)
				say("another lwkctl rehome runs, and brings all memory home",
				    context);
			break;
		}
		had = true;
		if (ftruncate(turn, 0) < 0)
			return ms_fail(err, "%s/rehome.lock: %m", state_dir);
		ret = bring_all(config, lock, say, context, err);
		if (ret < 0)
			syslog(LOG_DAEMON | LOG_WARNING,
			       "slurm-lwk: memory of Linux jobs is still away: %s", err->text);
		flock(turn, LOCK_UN);
	}
	return ret;
}

int ms_rehome(const struct ms_config *config, ms_say say, void *context, struct ms_error *err)
{
	int dir = state_open_jobs(err), lock = -1, turn = -1, ret = -1;

	if (dir < 0)
		return -1;
	close(dir);
	lock = open_lock("lock", err);
	turn = lock < 0 ? -1 : open_lock("rehome.lock", err);
	if (turn >= 0) {
		process_go_to(config->os_cpus);
		ret = take_turns(config, turn, lock, say, context, err);
		close(turn);
	}
	if (lock >= 0)
		close(lock);
	return ret;
}
