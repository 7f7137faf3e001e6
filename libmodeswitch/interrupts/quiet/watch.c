// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that keeps interrupts away from quiet jobs as long as such jobs exist: it makes a
 * pass every few seconds. One process at a time does so on a node.
 */
#include "interrupts/quiet/quiet.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/process.h"
#include "interrupts/quiet/pass.h"
#include "modeswitch/interrupts.h"
#include "modeswitch/job.h"
#include "store/state.h"

#define LOCK_FILE "quiet.lock"

/* ---- starting the process ---- */

static int start_watching(struct ms_error *err)
{
	static const char *const watch[] = { LWKCTL_PATH, "quiet", NULL };
	int error = child_detach(watch);

	return error ? ms_fail(err, "%s cannot be started: %s", LWKCTL_PATH, strerror(-error)) : 0;
}

int quiet_start(hwloc_const_bitmap_t os, struct ms_error *err)
{
	return quiet_run_pass(NULL, os, NULL, err) < 0 ? -1 : start_watching(err);
}

int ms_quiet_resume(struct ms_error *err)
{
	struct ms_job *jobs;
	bool quiet = false;
	size_t n;

	if (ms_job_list(&jobs, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		quiet |= jobs[i].state == MS_JOB_QUIET;
	ms_job_list_free(jobs, n);
	return quiet ? start_watching(err) : 0;
}

/* ---- watching ---- */

/* Leaves the CPUs of jobs; where that is not allowed, the process stays where it is. */
static void go_to_os_cpus(void)
{
	hwloc_bitmap_t os = hwloc_bitmap_alloc();
	struct json_object *state = NULL;
	struct ms_error ignored;

	if (os && quiet_read_state(&state, &ignored) == 0) {
		quiet_read_set(state, "os", os);
		process_go_to(os);
	}
	json_object_put(state);
	hwloc_bitmap_free(os);
}

static void wait_for(double seconds)
{
	struct timespec time = { .tv_sec = seconds,
				 .tv_nsec = (seconds - (time_t)seconds) * 1000000000 };

	nanosleep(&time, NULL);
}

/* Makes a pass. The number of quiet jobs, or -1; 1 while a switch holds the lock. */
static ssize_t watch_once(struct quiet_memory *memory, int *watch, struct ms_error *err)
{
	struct ms_error ignored;
	int lock = state_lock(0, &ignored);
	ssize_t n;

	if (lock < 0)
		return 1;
	n = quiet_run_pass(NULL, NULL, memory, err);
	/* A job that begins after this finds the lock free and starts a process of its own. */
	if (n <= 0) {
		close(*watch);
		*watch = -1;
	}
	close(lock);
	return n;
}

static int watch(struct quiet_memory *memory, struct ms_error *err)
{
	int fd = state_take(LOCK_FILE);
	ssize_t n = 1;

	if (fd < 0)
		return 0;
	go_to_os_cpus();
	while (n > 0) {
		wait_for(memory->interval);
		n = watch_once(memory, &fd, err);
	}
	return n;
}

int ms_quiet_watch(double interval, struct ms_error *err)
{
	struct quiet_memory memory = { .interval = interval,
				       .quiet = hwloc_bitmap_alloc(),
				       .n_carried = sysconf(_SC_NPROCESSORS_CONF) };
	int ret;

	memory.carried = calloc(memory.n_carried + 1, sizeof(*memory.carried));
	if (memory.quiet && memory.carried)
		ret = ms_irqs_read(&memory.before, err) < 0 ? -1 : watch(&memory, err);
	else
		ret = ms_fail(err, "out of memory");
	ms_irqs_release(&memory.before);
	hwloc_bitmap_free(memory.quiet);
	free(memory.carried);
	return ret;
}
