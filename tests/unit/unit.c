// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/unit.h"

#include <errno.h>
#include <fts.h>
#include <sys/wait.h>

#include "base/files.h"
#include "switch/report.h"

char unit_dir[64];

int unit_setup(void **state)
{
	strcpy(unit_dir, "/tmp/slurm-lwk-unit.XXXXXX");
	if (!mkdtemp(unit_dir))
		return -1;
	chmod(unit_dir, 0755);
	state_dir = unit_dir;
	report_dir = unit_dir;
	return 0;
}

int unit_teardown(void **state)
{
	char *const paths[] = { unit_dir, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D)
			remove(entry->fts_path);
	}
	return tree ? fts_close(tree) : -1;
}

int unit_setup_root(void **state)
{
	if (unit_setup(state) < 0)
		return -1;
	files_root = unit_dir;
	return 0;
}

int unit_teardown_root(void **state)
{
	files_root = "";
	return unit_teardown(state);
}

const char *unit_file(const char *name, const char *format, ...)
{
	static char path[512];
	va_list args;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	for (char *slash = strchr(path + strlen(unit_dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			fail_msg("%s: %m", path);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (!file)
		fail_msg("%s: %m", path);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fclose(file);
	return path;
}

const char *unit_read(const char *name)
{
	static char text[65536];
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	file = fopen(path, "r");
	text[file ? fread(text, 1, sizeof(text) - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	return text;
}

bool unit_exists(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	return access(path, F_OK) == 0;
}

int unit_in_child(int (*work)(struct ms_error *err))
{
	struct ms_error err;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(work(&err) < 0 ? 1 : 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}
