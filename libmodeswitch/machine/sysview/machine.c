// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps what Linux says of all CPUs of the machine, while nothing is lent.
 */
#include "machine/sysview/sysview.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files.h"
#include "machine/sysview/tree.h"
#include "store/state.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* Files that hwloc, lscpu, libgomp and others read; not every kernel has all of them. */
static const char *const topology_files[] = {
	"core_id",
	"physical_package_id",
	"die_id",
	"cluster_id",
	"core_cpus",
	"core_cpus_list",
	"package_cpus",
	"package_cpus_list",
	"die_cpus",
	"die_cpus_list",
	"cluster_cpus",
	"cluster_cpus_list",
	"thread_siblings",
	"thread_siblings_list",
	"core_siblings",
	"core_siblings_list",
	NULL,
};

static const char *const cache_files[] = {
	"id",
	"level",
	"type",
	"size",
	"coherency_line_size",
	"number_of_sets",
	"physical_line_partition",
	"ways_of_associativity",
	"shared_cpu_map",
	"shared_cpu_list",
	NULL,
};

static int copy_file(const struct tree *tree, const char *dir, const char *name)
{
	char text[8192];
	int length = kernel_read(text, sizeof(text) - 1, CPU_DIR "/%s/%s", dir, name);

	/* A file that this kernel lacks is no reason to refuse jobs. */
	if (length < 0)
		return 0;
	text[length] = '\n';
	text[length + 1] = '\0';
	return make_file(tree, text, "%s/%s", dir, name);
}

static bool kernel_has(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" CPU_DIR "/%s", files_root, dir);
	return access(path, F_OK) == 0;
}

static int copy_files(const struct tree *tree, const char *dir, const char *const *names)
{
	int ret = make_dir(tree, "%s", dir);

	for (; ret == 0 && *names; names++)
		ret = copy_file(tree, dir, *names);
	return ret;
}

static int copy_cpu(const struct tree *tree, unsigned cpu)
{
	char dir[64];
	int ret = make_dir(tree, "cpu%u", cpu);

	snprintf(dir, sizeof(dir), "cpu%u", cpu);
	if (ret == 0)
		ret = copy_file(tree, dir, "online");
	snprintf(dir, sizeof(dir), "cpu%u/topology", cpu);
	if (ret == 0 && kernel_has(dir))
		ret = copy_files(tree, dir, topology_files);
	snprintf(dir, sizeof(dir), "cpu%u/cache", cpu);
	if (ret < 0 || !kernel_has(dir))
		return ret;
	ret = make_dir(tree, "%s", dir);
	for (unsigned index = 0; ret == 0; index++) {
		snprintf(dir, sizeof(dir), "cpu%u/cache/index%u", cpu, index);
		if (!kernel_has(dir))
			break;
		ret = copy_files(tree, dir, cache_files);
	}
	return ret;
}

static int copy_machine(const struct tree *tree)
{
	hwloc_bitmap_t online = hwloc_bitmap_alloc();
	char path[PATH_MAX];
	int cpu, ret = 0;

	if (!online)
		return ms_fail(tree->err, "out of memory");
	if (kernel_read_list(online, CPU_DIR "/online") < 0)
		ret = ms_fail(tree->err, CPU_DIR "/online cannot be read");
	hwloc_bitmap_foreach_begin(cpu, online) {
		if (ret == 0)
			ret = copy_cpu(tree, cpu);
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(online);
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", files_root);
	return ret == 0 ? make_cpuinfo(tree, path, NULL) : ret;
}

int sysview_keep_machine(bool replace, struct ms_error *err)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	struct tree tree;
	int dir, ret;

	snprintf(path, sizeof(path), "%s/" MACHINE_TREE, state_dir);
	snprintf(fresh, sizeof(fresh), "%s/" MACHINE_TREE ".new", state_dir);
	if (!replace && access(path, F_OK) == 0)
		return 0;
	if (remove_tree(MACHINE_TREE ".new", err) < 0)
		return -1;
	dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ms_fail(err, "%s: %m", state_dir);
	ret = open_tree(&tree, dir, "", MACHINE_TREE ".new", err);
	close(dir);
	if (ret < 0)
		return -1;
	ret = copy_machine(&tree);
	close(tree.dir);
	if (ret == 0)
		ret = remove_tree(MACHINE_TREE, err);
	if (ret == 0 && rename(fresh, path) < 0)
		ret = ms_fail(err, "%s: %m", path);
	return ret;
}
