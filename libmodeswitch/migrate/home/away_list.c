// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/home/away_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "migrate/base/context.h"
#include "store/state.h"

#define SUFFIX ".away"

static void name_of(uint32_t lwk_job, char name[32])
{
	snprintf(name, 32, "%u" SUFFIX, lwk_job);
}

static void write_process(FILE *file, const struct migrate_process *process, unsigned node)
{
	for (size_t i = 0, next; i < process->n; i = next) {
		const struct migrate_page *page = &process->pages[i];
		uint64_t start = page_address(page), end = start + page_bytes(page);

		for (next = i + 1; next < process->n; next++) {
			page = &process->pages[next];
			if (page_address(page) != end)
				break;
			end += page_bytes(page);
		}
		fprintf(file, "%u %d %" PRIu64 " %" PRIx64 " %" PRIx64 "\n", node, process->pid,
			process->started, start, end);
	}
}

/* Ends the torn line of a process that was killed, or had no room, so that no line joins it. */
static void end_torn_line(int fd, FILE *file)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
		fputc('\n', file);
}

int away_list_add(const struct migration *migration, uint32_t lwk_job, unsigned node,
		  struct ms_error *err)
{
	int dir = state_open_jobs(err), fd;
	FILE *file = NULL;
	char name[32];
	bool failed;

	if (dir < 0)
		return -1;
	name_of(lwk_job, name);
	fd = openat(dir, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	close(dir);
	file = fd < 0 ? NULL : fdopen(fd, "a");
	if (!file)
		return ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	end_torn_line(fd, file);
	for (size_t i = 0; i < migration->n_processes; i++) {
		const struct migrate_process *process = &migration->processes[i];
		uint32_t job = process->n ? job_of_process(process->pid) : 0;

		if (job && job != lwk_job)
			write_process(file, process, node);
	}
	failed = ferror(file);
	if (fclose(file) != 0 || failed)
		return ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	return 0;
}

int away_list_hand_on(uint32_t from, uint32_t to, struct ms_error *err)
{
	int dir = state_open_jobs(err), ret = 0;
	char old[32], new[32];

	if (dir < 0)
		return -1;
	name_of(from, old);
	name_of(to, new);
	if (renameat(dir, old, dir, new) < 0 && errno != ENOENT)
		ret = ms_fail(err, "%s/jobs/%s: %m", state_dir, new);
	close(dir);
	return ret;
}

ssize_t away_list_jobs(uint32_t **jobs, struct ms_error *err)
{
	return state_jobs(SUFFIX, jobs, err);
}

static int compare_lines(const void *a, const void *b)
{
	const struct away_line *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->started != y->started)
		return x->started < y->started ? -1 : 1;
	return x->range.start < y->range.start ? -1 : x->range.start > y->range.start;
}

/* A line that is torn is skipped: its pages had not moved when writing was broken off. */
int away_list_read(uint32_t lwk_job, struct away_lines *lines, struct ms_error *err)
{
	int dir = state_open_jobs_readonly(), fd = -1;
	char name[32], text[256];
	struct away_line line, *more;
	FILE *file;

	name_of(lwk_job, name);
	if (dir >= 0) {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
	}
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file)
		return ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	for (size_t room = 0; fgets(text, sizeof(text), file);) {
		if (!strchr(text, '\n') ||
		    sscanf(text, "%u %d %" SCNu64 " %" SCNx64 " %" SCNx64, &line.node, &line.pid,
			   &line.started, &line.range.start, &line.range.end) != 5 ||
		    line.range.start >= line.range.end)
			continue;
		if (lines->n == room) {
			room = room * 2 + 64;
			more = reallocarray(lines->all, room, sizeof(*more));
			if (!more) {
				fclose(file);
				return ms_fail(err, "out of memory");
			}
			lines->all = more;
		}
		lines->all[lines->n++] = line;
	}
	fclose(file);
	if (lines->n)
		qsort(lines->all, lines->n, sizeof(*lines->all), compare_lines);
	return 0;
}

void away_list_remove(uint32_t lwk_job)
{
	int dir = state_open_jobs_readonly();
	char name[32];

	if (dir < 0)
		return;
	name_of(lwk_job, name);
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		syslog(LOG_DAEMON | LOG_WARNING, "slurm-lwk: %s/jobs/%s: %m", state_dir, name);
	close(dir);
}
