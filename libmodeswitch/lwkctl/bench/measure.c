// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/bench/measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Greater than any of Slurm's (MAX_JOB_ID of slurm.h). */
#define BENCH_JOB 0x04000001U

const char *const bench_figure_names[BENCH_FIGURES] = {
	[BENCH_GETPID] = "getpid", [BENCH_CLOCK] = "clock",	[BENCH_READ] = "read",
	[BENCH_OPEN] = "open",	   [BENCH_TOUCH] = "touch",	[BENCH_FORK] = "fork",
	[BENCH_LOST] = "lost",	   [BENCH_LONGEST] = "longest",
};

static sigset_t ending, awaited, mask_before;

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

/* The node must not stay in LWK mode when a signal ends us, so signals wait, and are asked for. */
static void hold_signals(void)
{
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_BLOCK, &ending, &mask_before);
	awaited = ending;
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
}

static int check_signals(struct ms_error *err)
{
	sigset_t pending;

	sigpending(&pending);
	sigandset(&pending, &pending, &ending);
	if (!sigisemptyset(&pending))
		return ms_fail(err, "a signal ended the measurement; the node is as before");
	return 0;
}

/* ---- whether the node is idle ---- */

/* A process of a step has a title like "slurmstepd: [12.batch]". */
static bool is_step(const char *pid)
{
	char path[64], title[16] = "";
	FILE *file;

	if (*pid < '1' || *pid > '9')
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(title, sizeof(title), file))
		*title = 0;
	fclose(file);
	return strncmp(title, "slurmstepd: [", 13) == 0;
}

static int check_steps(struct ms_error *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	if (!proc)
		return ms_fail(err, "/proc: %m");
	while (!found && (entry = readdir(proc)))
		found = is_step(entry->d_name);
	closedir(proc);
	if (found)
		return ms_fail(
			err,
			"expected an idle node, found a Slurm job on it; drain the node, and wait "
			"until its jobs have ended");
	return 0;
}

static int check_idle(struct ms_error *err)
{
	struct ms_job *jobs;
	size_t n;

	if (ms_job_list(&jobs, &n, err) < 0)
		return -1;
	ms_job_list_free(jobs, n);
	if (n)
		return ms_fail(
			err,
			"expected an idle node, found %zu records of jobs; see lwkctl status, and "
			"end what is there with lwkctl cool or reset",
			n);
	return check_steps(err);
}

/* ---- switching ---- */

static int switch_on(const struct ms_config *config, const struct bench *bench, struct ms_job *job,
		     struct ms_error *err)
{
	struct ms_request request = { .job_id = BENCH_JOB, .memory = bench->memory };
	int got;

	snprintf(request.image, sizeof(request.image), "%s", bench->image);
	request.cpus = bench->cpus;
	if (ms_switch_on(config, &request, err) < 0)
		return -1;
	got = ms_job_get(BENCH_JOB, job, err);
	if (got < 0)
		return -1;
	return got ? 0 : ms_fail(err, "expected the record of the switch, found none");
}

static int switch_off(struct bench *bench, int round, struct ms_error *err)
{
	uint64_t start = now_us();

	if (ms_switch_off(BENCH_JOB, &bench->off, err) < 0)
		return -1;
	bench->off_us[round] = now_us() - start;
	return 0;
}

/* ---- the probe ---- */

static int store(double *figures, const char *name, double value)
{
	for (int i = 0; i < BENCH_FIGURES; i++) {
		if (strcmp(bench_figure_names[i], name) == 0) {
			figures[i] = value;
			return 1;
		}
	}
	return 0;
}

static int read_figures(int fd, double *figures)
{
	FILE *from = fdopen(fd, "r");
	char line[128], name[16];
	double value;
	int n = 0;

	if (!from) {
		close(fd);
		return 0;
	}
	while (fgets(line, sizeof(line), from))
		if (sscanf(line, "%15s %lf", name, &value) == 2)
			n += store(figures, name, value);
	fclose(from);
	return n;
}

static int start(const char *const argv[], int output, pid_t *pid)
{
	static char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &mask_before);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/*
 * Waits for the end of the process and returns its status. SIGINT, SIGTERM or SIGHUP meanwhile
 * kills the process and stays pending. The process may print no more than a pipe holds.
 */
static int await_end(pid_t pid)
{
	int status, signal, ended_by = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		signal = sigwaitinfo(&awaited, NULL);
		if (signal <= 0 || signal == SIGCHLD)
			continue;
		ended_by = signal;
		kill(pid, SIGKILL);
	}
	if (ended_by)
		raise(ended_by);
	return status;
}

/* Runs the probe by argv; 'where' is for the message. */
static int probe(const char *const argv[], const char *where, double *figures, struct ms_error *err)
{
	int ends[2], error, status, n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return ms_fail(err, "pipe: %m");
	error = start(argv, ends[1], &pid);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		return ms_fail(err, "%s: %s", argv[0], strerror(error));
	}
	status = await_end(pid);
	n = read_figures(ends[0], figures);
	if (check_signals(err) < 0)
		return -1;
	if (status || n != BENCH_FIGURES)
		return ms_fail(err,
			       "%s on %s: expected %d figures, found %d; its messages are above",
			       LWK_PROBE_PATH, where, BENCH_FIGURES, n);
	return 0;
}

static int probe_linux(struct bench *bench, struct ms_error *err)
{
	char seconds[32], cpu[16];
	const char *const argv[] = { LWK_PROBE_PATH, seconds, cpu, NULL };

	snprintf(seconds, sizeof(seconds), "%g", bench->seconds);
	snprintf(cpu, sizeof(cpu), "%d", hwloc_bitmap_first(bench->lwk_cpus));
	return probe(argv, "Linux", bench->linux_side, err);
}

static int probe_lwk(struct bench *bench, const struct ms_job *job, struct ms_error *err)
{
	char seconds[32];
	const char *const argv[] = { LWKEXEC_PATH,   "--device", job->device,
				     LWK_PROBE_PATH, seconds,	 NULL };

	if (*job->launcher)
		return ms_fail(
			err,
			"expected an image whose programs lwkexec starts, found \"%s\", whose "
			"launcher is %s; name another with --image",
			job->image, job->launcher);
	snprintf(seconds, sizeof(seconds), "%g", bench->seconds);
	return probe(argv, "the LWK", bench->lwk, err);
}

/* ---- rounds ---- */

static int take(struct bench *bench, const struct ms_job *job, int round, struct ms_error *err)
{
	if (job->state != MS_JOB_ACTIVE)
		return ms_fail(err, "%s", job->reason);
	bench->on = job->times;
	hwloc_bitmap_copy(bench->lwk_cpus, job->lwk_cpus);
	bench->lwk_memory = job->memory;
	return round ? 0 : probe_lwk(bench, job, err);
}

static int measure_round(const struct ms_config *config, struct bench *bench, int round,
			 struct ms_error *err)
{
	uint64_t start = now_us();
	struct ms_error stuck;
	struct ms_job job;
	int ret = switch_on(config, bench, &job, err);

	if (ret == 0) {
		bench->on_us[round] = now_us() - start;
		ret = take(bench, &job, round, err);
		ms_job_release(&job);
	}
	/* A job that was refused is forgotten, too. */
	if (switch_off(bench, round, &stuck) < 0) {
		*err = stuck;
		return -1;
	}
	return ret ? ret : check_signals(err);
}

static int measure(const struct ms_config *config, struct bench *bench, struct ms_error *err)
{
	if (check_idle(err) < 0)
		return -1;
	for (int round = 0; round < bench->rounds; round++)
		if (measure_round(config, bench, round, err) < 0)
			return -1;
	return probe_linux(bench, err);
}

int bench_measure(const struct ms_config *config, struct bench *bench, struct ms_error *err)
{
	int ret;

	hold_signals();
	ret = measure(config, bench, err);
	/* A pending signal ends this process now, when the node is as before. */
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	return ret;
}
