// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi_profile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "compat/slurm_compat.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "options.h"

#define PAGES MS_STATE_DIR "/mpi"
#define SAVE_MS 60000

struct step {
	char name[32]; /* "5.0", "5.batch" */
	char directory[64];
	uid_t uid;
	gid_t gid;
	bool batch;
};

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
	snprintf(step->directory, sizeof(step->directory), PAGES "/%s", step->name);
	return true;
}

static bool is_own_directory(const char *path, uid_t uid)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid;
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
	if (!options_mpi_profile(sp) || !get_step(sp, &step) ||
	    !getcwd(directory, sizeof(directory)))
		return;
	profile_path(sp, &step, directory, path, sizeof(path));
	append_library(sp);
	spank_setenv(sp, "LWK_MPI_PAGES", step.directory, 1);
	spank_setenv(sp, "LWK_MPI_PROFILE", path, 1);
	spank_setenv(sp, "LWK_MPI_JOB", step.name, 1);
}

/* lwkctl does it as the user, who has written what it reads. */
static void save(spank_t sp, const struct step *step)
{
	char user[32], directory[2048], path[4096], output[1024];
	const char *argv[] = { LWKCTL_PATH, "mpi", "save", step->directory, path, "--as",
			       user,	    NULL,  NULL };
	int status;

	if (spank_getenv(sp, "PWD", directory, sizeof(directory)) != ESPANK_SUCCESS)
		strcpy(directory, "/");
	profile_path(sp, step, directory, path, sizeof(path));
	snprintf(user, sizeof(user), "%u:%u", step->uid, step->gid);
	if (step->batch)
		argv[7] = "--quiet";
	status = child_run(argv, clock_ms() + SAVE_MS, output, sizeof(output));
	/* The user chose the file's name. */
	ms_make_printable(output);
	if (status < 0)
		slurm_error("lwk: --mpi-profile: %s cannot be run: %s", LWKCTL_PATH,
			    strerror(-status));
	else if (*output)
		slurm_error("lwk: --mpi-profile: %s", output);
}

void mpi_profile_ended(spank_t sp)
{
	static uint32_t ended;
	struct step step;
	uint32_t tasks;

	if (!options_mpi_profile(sp) || !get_step(sp, &step) ||
	    spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS || ++ended < tasks)
		return;
	save(sp, &step);
	if (rmdir(step.directory) < 0)
		slurm_error("lwk: --mpi-profile: %s: %m", step.directory);
}
