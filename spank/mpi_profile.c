// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi_profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/trust.h"
#include "compat/slurm_compat.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "options.h"

#define PAGES MS_STATE_DIR "/mpi"
#define SAVE_MS 60000
/* For all steps that are left at a job's end, whose CPUs and memory go back afterwards. */
#define SAVE_ALL_MS 10000
#define ANSWER_BYTES 32768

/* Beside a step's directory, for the epilog: its user and group, and the path of its profile. */
#define NOTE ".profile"

struct step {
	char name[32]; /* "5.0", "5.batch" */
	char directory[64];
	char note[sizeof(PAGES) + 48];
	uid_t uid;
	gid_t gid;
	bool batch;
};

static void name_files(struct step *step)
{
	snprintf(step->directory, sizeof(step->directory), PAGES "/%s", step->name);
	snprintf(step->note, sizeof(step->note), PAGES "/%s" NOTE, step->name);
}

static bool get_step(spank_t sp, struct step *step)
{
	uint32_t job_id, step_id;

	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_UID, &step->uid) != ESPANK_SUCCESS ||
	    spank_get_item(sp, S_JOB_GID, &step->gid) != ESPANK_SUCCESS)
		return false;
	step->batch = step_id == SLURM_BATCH_SCRIPT;
	if (step->batch)
		snprintf(step->name, sizeof(step->name), "%u.batch", job_id);
	else if (step_id <= SLURM_MAX_NORMAL_STEP_ID)
		snprintf(step->name, sizeof(step->name), "%u.%u", job_id, step_id);
	else
		return false;
	name_files(step);
	return true;
}

static bool is_own_directory(const char *path, uid_t uid)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid;
}

/* Writes the profile's path; a relative one is below 'directory'. */
static void profile_path(spank_t sp, const struct step *step, const char *directory, char *path,
			 size_t size)
{
	const char *file = options_mpi_profile(sp);
	char name[64];

	if (!*file) {
		snprintf(name, sizeof(name), "mpi-%s.json", step->name);
		file = name;
	}
	snprintf(path, size, "%s%s%s", *file == '/' ? "" : directory, *file == '/' ? "" : "/",
		 file);
}

/* Writes the profile's path for a caller that is not in the step's directory. */
static void step_path(spank_t sp, const struct step *step, char *path, size_t size)
{
	char directory[2048];

	if (spank_getenv(sp, "PWD", directory, sizeof(directory)) != ESPANK_SUCCESS)
		strcpy(directory, "/");
	profile_path(sp, step, directory, path, size);
}

/* The step's first task makes it. */
static void make_note(spank_t sp, const struct step *step)
{
	char path[4096];
	int fd = open(step->note, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return;
	step_path(sp, step, path, sizeof(path));
	if (fd < 0 || dprintf(fd, "%u %u %s", step->uid, step->gid, path) < 0)
		slurm_error("lwk: --mpi-profile: %s: %m", step->note);
	if (fd >= 0)
		close(fd);
}

void mpi_profile_directory(spank_t sp)
{
	struct step step;

	if (!options_mpi_profile(sp) || !get_step(sp, &step))
		return;
	if ((mkdir(MS_STATE_DIR, 0755) == 0 && chmod(MS_STATE_DIR, 0755) == 0) || errno == EEXIST) {
		if (mkdir(PAGES, 0755) == 0)
			chmod(PAGES, 0755); /* in spite of the umask */
	}
	make_note(sp, &step);
	/* Nobody but root can write to the directories above it. */
	if (mkdir(step.directory, 0700) == 0 && lchown(step.directory, step.uid, step.gid) < 0)
		rmdir(step.directory);
	if (!is_own_directory(step.directory, step.uid))
		slurm_error("lwk: --mpi-profile: %s: expected a directory of user %u, found that "
			    "it cannot be made: %m",
			    step.directory, step.uid);
}

/* The library comes last, so that a tool of the user's stands in front of it. */
static void append_library(spank_t sp)
{
	char libraries[4096], all[sizeof(libraries) + sizeof(LWKMPI_PATH) + 1];

	if (spank_getenv(sp, "LD_PRELOAD", libraries, sizeof(libraries)) != ESPANK_SUCCESS)
		*libraries = '\0';
	if (strstr(libraries, LWKMPI_PATH))
		return;
	snprintf(all, sizeof(all), "%s%s%s", libraries, *libraries ? ":" : "", LWKMPI_PATH);
	spank_setenv(sp, "LD_PRELOAD", all, 1);
}

/* The library learns the ranks' sites from the variable that Slurm sets, SLURM_TOPOLOGY_ADDR. */
static void prepare_collectives(spank_t sp)
{
	const char *wanted = options_mpi_collectives(sp);

	if (!wanted)
		return;
	append_library(sp);
	spank_setenv(sp, "LWK_MPI_COLLECTIVES", wanted, 1);
}

void mpi_profile_prepare(spank_t sp)
{
	char directory[2048], path[4096];
	struct step step;

	prepare_collectives(sp);
	/* The library tells when the profile is that of another program. */
	if (options_mpi_place(sp))
		append_library(sp);
	if (!options_mpi_profile(sp) || !get_step(sp, &step) ||
	    !getcwd(directory, sizeof(directory)))
		return;
	profile_path(sp, &step, directory, path, sizeof(path));
	append_library(sp);
	spank_setenv(sp, "LWK_MPI_PAGES", step.directory, 1);
	spank_setenv(sp, "LWK_MPI_PROFILE", path, 1);
	spank_setenv(sp, "LWK_MPI_JOB", step.name, 1);
}

static uint64_t number(struct json_object *answer, const char *key)
{
	int64_t found = json_object_get_int64(json_object_object_get(answer, key));

	return found > 0 ? found : 0;
}

/* Puts the numbers into the job's report, and logs what the user is to know. */
static void take_answer(const struct step *step, const char *path, const char *text)
{
	struct json_object *answer = json_tokener_parse(text);
	struct ms_mpi sums = { .steps = 1,
			       .ranks = number(answer, "ranks"),
			       .ns = number(answer, "ns"),
			       .mpi_ns = number(answer, "mpi_ns"),
			       .messages = number(answer, "messages"),
			       .operations = number(answer, "operations"),
			       .bytes = number(answer, "bytes") };
	const char *said = json_object_get_string(json_object_object_get(answer, "message"));
	char message[ANSWER_BYTES];
	struct ms_error err;

	if (!answer)
		slurm_error("lwk: --mpi-profile: expected numbers in JSON from lwkctl mpi save, "
			    "found none; the job's record lacks them");
	snprintf(sums.file, sizeof(sums.file), "%s", path);
	if (sums.ranks && ms_job_add_mpi(strtoul(step->name, NULL, 10), &sums, &err) < 0)
		slurm_error("lwk: --mpi-profile: %s", err.text);
	snprintf(message, sizeof(message), "%s", said ? said : "");
	message[strcspn(message, "\n")] = '\0';
	/* The user chose the file's name. */
	ms_make_printable(message);
	if (*message)
		slurm_error("lwk: --mpi-profile: %s", message);
	json_object_put(answer);
}

/* Detaches what is mounted at JOB.STEP/NAME. No link leads elsewhere, and no file system is asked. */
static bool detach_below(char *path)
{
	int top = open(PAGES, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), parent, fd = -1;
	char *name = strrchr(path, '/'), link[32];
	bool done = false;

	*name++ = '\0';
	parent = top < 0 ? -1 : open_within(top, path, O_PATH | O_DIRECTORY);
	if (parent >= 0)
		fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		done = umount2(link, MNT_FORCE | MNT_DETACH) == 0;
		close(fd);
	}
	if (parent >= 0)
		close(parent);
	if (top >= 0)
		close(top);
	return done;
}

/* False when nothing was detached. */
static bool detach_some(const struct step *step)
{
	/* A source and a mount point have up to PATH_MAX bytes, each of which may be written as four. */
	static char line[8 * PATH_MAX + 8192];
	bool any = umount2(step->directory, MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	size_t length = strlen(step->directory);
	struct mntent mount;

	while (mounts && getmntent_r(mounts, &mount, line, sizeof(line))) {
		if (strncmp(mount.mnt_dir, step->directory, length) == 0 &&
		    mount.mnt_dir[length] == '/')
			any |= detach_below(mount.mnt_dir + sizeof(PAGES));
	}
	if (mounts)
		endmntent(mounts);
	return any;
}

/*
 * The directory's owner can mount file systems of his own there, by fusermount3(1), which answer nobody,
 * and go on with it until the deadline. MNT_FORCE ends what waits for them already.
 */
static void detach_mounts(const struct step *step, int64_t deadline)
{
	while (detach_some(step) && clock_ms() < deadline)
		;
}

/*
 * lwkctl saves the profile as the user, who has written what it reads, until the deadline
 * (clock_ms()). Then removes what the step had.
 */
static void save(const struct step *step, const char *path, bool quiet, int64_t deadline)
{
	char user[32], output[ANSWER_BYTES];
	/* A path that begins with "-" is no option. */
	const char *argv[] = { LWKCTL_PATH, "mpi",  "--json",	     "--as", user, "--quiet",
			       "--",	    "save", step->directory, path,   NULL };
	int status;

	snprintf(user, sizeof(user), "%u:%u", step->uid, step->gid);
	if (!quiet)
		memmove(argv + 5, argv + 6, sizeof(argv) - 6 * sizeof(*argv));
	detach_mounts(step, deadline);
	status = child_run_alone(argv, deadline, output, sizeof(output));
	if (status == -ETIMEDOUT) {
		slurm_error(
			"lwk: --mpi-profile: expected the profile of step %s in time, found more "
			"to read; look for files in %s that are no profiles, then remove it",
			step->name, step->directory);
	} else if (status < 0) {
		slurm_error("lwk: --mpi-profile: %s cannot be run: %s", LWKCTL_PATH,
			    strerror(-status));
	} else if (status) {
		ms_make_printable(output);
		slurm_error("lwk: --mpi-profile: %s", output);
	} else {
		take_answer(step, path, output);
	}
	detach_mounts(step, deadline);
	if (rmdir(step->directory) == 0 || errno == ENOENT)
		unlink(step->note);
	else
		slurm_error("lwk: --mpi-profile: %s: %m", step->directory);
}

void mpi_profile_ended(spank_t sp)
{
	static uint32_t ended;
	struct step step;
	char path[4096];
	uint32_t tasks;

	if (!options_mpi_profile(sp) || !get_step(sp, &step) ||
	    spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS || ++ended < tasks)
		return;
	step_path(sp, &step, path, sizeof(path));
	save(&step, path, step.batch, clock_ms() + SAVE_MS);
}

/* False when the name is not that of a note of the job's, or the note cannot be read. */
static bool read_note(const char *name, uint32_t job_id, struct step *step, char path[4096])
{
	size_t length = strlen(name), end = strlen(NOTE);
	char job[16], text[4096 + 32];
	int fd, start = 0;
	ssize_t bytes;

	snprintf(job, sizeof(job), "%u.", job_id);
	if (length <= end || length - end >= sizeof(step->name) ||
	    strcmp(name + length - end, NOTE) != 0 || strncmp(name, job, strlen(job)) != 0)
		return false;
	memset(step, 0, sizeof(*step));
	memcpy(step->name, name, length - end);
	name_files(step);
	fd = open(step->note, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[bytes > 0 ? bytes : 0] = '\0';
	if (sscanf(text, "%u %u %n", &step->uid, &step->gid, &start) != 2 || !start)
		return false;
	snprintf(path, 4096, "%s", text + start);
	return true;
}

void mpi_profile_job_ended(uint32_t job_id)
{
	int64_t deadline = clock_ms() + SAVE_ALL_MS;
	DIR *entries = opendir(PAGES);
	struct dirent *entry;
	struct step step;
	char path[4096];

	while (entries && (entry = readdir(entries))) {
		if (!read_note(entry->d_name, job_id, &step, path))
			continue;
		if (clock_ms() < deadline)
			save(&step, path, true, deadline);
		else
			slurm_error("lwk: --mpi-profile: expected the profiles of job %u within %d "
				    "s, found more to read; that of step %s stays in %s: look for "
				    "files that are no profiles, then remove it",
				    job_id, SAVE_ALL_MS / 1000, step.name, step.directory);
	}
	if (entries)
		closedir(entries);
}
