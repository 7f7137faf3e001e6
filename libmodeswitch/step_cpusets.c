// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers the version 1 cpusets before CPUs go off-line, and gives them their CPUs back:
 * without cpuset_v2_mode the kernel takes a CPU out of every cpuset and never puts it
 * back. With that mode, and with version 2, there is nothing to do.
 */
#include "cpusets.h"
#include "files.h"
#include "steps.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cpuset_mode cpusets_find(char *path, size_t size)
{
	enum cpuset_mode mode = CPUSETS_NONE;
	struct mntent *mount, buffer;
	char text[8192], table[PATH_MAX];
	FILE *mounts;

	snprintf(table, sizeof(table), "%s/proc/self/mounts", files_root);
	mounts = setmntent(table, "re");
	while (mounts && mode == CPUSETS_NONE &&
	       (mount = getmntent_r(mounts, &buffer, text, sizeof(text)))) {
		if (strcmp(mount->mnt_type, "cgroup") != 0 || !hasmntopt(mount, "cpuset"))
			continue;
		mode = hasmntopt(mount, "cpuset_v2_mode") ? CPUSETS_V2_MODE : CPUSETS_PLAIN;
		snprintf(path, size, "%s", mount->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return mode;
}

/* Adds {"path", "cpus"} when the cpuset has any of the CPUs that will go. */
static void remember(struct json_object *saved, const char *path, hwloc_const_bitmap_t going)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	struct json_object *item;
	char file[PATH_MAX], *list;

	snprintf(file, sizeof(file), "%s/cpuset.cpus", path);
	if (cpus && kernel_read_list(cpus, file) == 0 && hwloc_bitmap_intersects(cpus, going)) {
		hwloc_bitmap_and(cpus, cpus, going);
		item = json_object_new_object();
		hwloc_bitmap_list_asprintf(&list, cpus);
		json_object_object_add(item, "path", json_object_new_string(path));
		json_object_object_add(item, "cpus", json_object_new_string(list));
		json_object_array_add(saved, item);
		free(list);
	}
	hwloc_bitmap_free(cpus);
}

static struct json_object *details(struct switching *switching)
{
	struct json_object *object = json_object_new_object();
	struct json_object *saved = json_object_new_array();
	size_t root = strlen(files_root);
	char path[PATH_MAX], whole[PATH_MAX];
	char *const paths[] = { whole, NULL };
	FTSENT *entry;
	FTS *tree;

	json_object_object_add(object, "cpusets", saved);
	if (cpusets_find(path, sizeof(path)) != CPUSETS_PLAIN)
		return object;
	snprintf(whole, sizeof(whole), "%s%s", files_root, path);
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	while (tree && (entry = fts_read(tree))) {
		/* The root's follow by themselves. Parents come before their children. */
		if (entry->fts_info == FTS_D && entry->fts_level > 0)
			remember(saved, entry->fts_path + root, switching->plan->lwk_cpus);
	}
	if (tree)
		fts_close(tree);
	return object;
}

static int run(struct switching *switching, struct ms_error *err)
{
	return 0;
}

/*
 * Adds what the cpuset lost of this job's CPUs, and no more: it may have lost others, to
 * another job, since then.
 */
static int restore(struct switching *switching, struct json_object *item, struct ms_error *err)
{
	hwloc_bitmap_t lost = hwloc_bitmap_alloc(), cpus = hwloc_bitmap_alloc();
	const char *path = journal_text(item, "path");
	char file[PATH_MAX], *list = NULL;
	int error = -ENOMEM;

	snprintf(file, sizeof(file), "%s/cpuset.cpus", path);
	if (!lost || !cpus || ms_parse_cpus(journal_text(item, "cpus"), lost, err) < 0)
		goto out;
	error = 0;
	/* A cpuset that is gone needs nothing. */
	if (kernel_read_list(cpus, file) < 0 || hwloc_bitmap_isincluded(lost, cpus))
		goto out;
	hwloc_bitmap_or(cpus, cpus, lost);
	hwloc_bitmap_list_asprintf(&list, cpus);
	error = kernel_write(list, "%s", file);
	if (error == -ENOENT || error == -ENODEV)
		error = 0;
	else if (error == 0)
		switching_say(switching, "cpuset %s has CPUs %s again", path, list);
out:
	hwloc_bitmap_free(lost);
	hwloc_bitmap_free(cpus);
	free(list);
	if (error)
		ms_fail(err, "%s cannot get back CPUs %s: %s", file, journal_text(item, "cpus"),
			strerror(-error));
	return error ? -1 : 0;
}

static int undo(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	struct json_object *saved;
	struct ms_error why;
	int ret = 0;

	if (!json_object_object_get_ex(entry, "cpusets", &saved))
		return 0;
	for (size_t i = 0; i < json_object_array_length(saved); i++) {
		if (restore(switching, json_object_array_get_idx(saved, i), &why) < 0 && ret == 0)
			ret = ms_fail(err, "%s", why.text);
	}
	return ret;
}

const struct step step_cpusets = {
	.name = "cpusets", .details = details, .run = run, .undo = undo
};
