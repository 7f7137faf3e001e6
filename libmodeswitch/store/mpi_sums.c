// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/mpi_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/json.h"
#include "modeswitch/job.h"
#include "store/state.h"

/* The sums as text, "STEPS RANKS NS MPI_NS MESSAGES OPERATIONS BYTES FILE". */
#define TEXT_BYTES (sizeof(((struct ms_mpi *)0)->file) + 7 * 21)

static void name_file(uint32_t job_id, const char *suffix, char name[32])
{
	snprintf(name, 32, "%u%s", job_id, suffix);
}

/* Without a whole text, as a killed process leaves it, or a new file has it: false, and no sums. */
static bool read_sums(int fd, struct ms_mpi *sums)
{
	char text[TEXT_BYTES + 1];
	ssize_t bytes = pread(fd, text, TEXT_BYTES, 0);
	int start = 0;

	text[bytes > 0 ? bytes : 0] = '\0';
	if (sscanf(text,
		   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %n",
		   &sums->steps, &sums->ranks, &sums->ns, &sums->mpi_ns, &sums->messages,
		   &sums->operations, &sums->bytes, &start) != 7 ||
	    !start) {
		memset(sums, 0, sizeof(*sums));
		return false;
	}
	snprintf(sums->file, sizeof(sums->file), "%s", text + start);
	return true;
}

static void add(uint64_t *sum, uint64_t more)
{
	*sum = more < MS_MPI_MAX - *sum ? *sum + more : MS_MPI_MAX;
}

static int write_sums(int fd, const struct ms_mpi *sums)
{
	char text[TEXT_BYTES];
	int length = snprintf(text, sizeof(text),
			      "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			      " %" PRIu64 " %s",
			      sums->steps, sums->ranks, sums->ns, sums->mpi_ns, sums->messages,
			      sums->operations, sums->bytes, sums->file);

	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, length, 0) != length)
		return -1;
	return 0;
}

int ms_job_add_mpi(uint32_t job_id, const struct ms_mpi *step, struct ms_error *err)
{
	int dir = state_open_jobs_readonly(), fd, ret = -1;
	struct ms_mpi sums;
	char name[32];

	name_file(job_id, ".json", name);
	if (dir < 0 || faccessat(dir, name, F_OK, 0) < 0) {
		if (dir >= 0)
			close(dir);
		return 0;
	}
	name_file(job_id, ".mpi", name);
	fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	close(dir);
	/* Steps may end at the same time. */
	if (fd >= 0 && flock(fd, LOCK_EX) == 0) {
		read_sums(fd, &sums);
		add(&sums.steps, step->steps);
		add(&sums.ranks, step->ranks);
		add(&sums.ns, step->ns);
		add(&sums.mpi_ns, step->mpi_ns);
		add(&sums.messages, step->messages);
		add(&sums.operations, step->operations);
		add(&sums.bytes, step->bytes);
		snprintf(sums.file, sizeof(sums.file), "%s", step->file);
		ms_make_printable(sums.file);
		ret = write_sums(fd, &sums);
	}
	if (ret < 0)
		ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	if (fd >= 0)
		close(fd);
	return ret;
}

struct json_object *mpi_sums_read(uint32_t job_id)
{
	int dir = state_open_jobs_readonly(), fd;
	struct json_object *object = NULL;
	struct ms_mpi sums;
	char name[32];

	name_file(job_id, ".mpi", name);
	fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return NULL;
	if (read_sums(fd, &sums)) {
		object = json_object_new_object();
		json_add_number(object, "steps", sums.steps);
		json_add_number(object, "ranks", sums.ranks);
		json_add_double(object, "seconds", sums.ns / 1e9);
		json_add_double(object, "mpi_share", sums.ns ? (double)sums.mpi_ns / sums.ns : 0);
		json_add_number(object, "messages", sums.messages);
		json_add_number(object, "operations", sums.operations);
		json_add_number(object, "bytes", sums.bytes);
		json_add_text(object, "file", sums.file);
	}
	close(fd);
	return object;
}
