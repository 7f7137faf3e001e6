// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/sysview.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "store/state.h"

#define SUFFIX ".sys"
#define MACHINE "sysfs"
#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

/* A tree that is being made. */
struct tree {
	int dir;
	char name[32]; /* below the state directory, for messages */
	struct ms_error *err;
};

/* What hwloc, lscpu, libgomp and others read; not every kernel has all of them. */
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

static int failed(const struct tree *tree, const char *name)
{
	return ms_fail(tree->err, "%s/%s/%s: %m", state_dir, tree->name, name);
}

/* ---- writing ---- */

static int make_dir(const struct tree *tree, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int make_dir(const struct tree *tree, const char *format, ...)
{
	char name[128];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (mkdirat(tree->dir, name, 0755) < 0 || fchmodat(tree->dir, name, 0755, 0) < 0)
		return failed(tree, name);
	return 0;
}

static int make_link(const struct tree *tree, const char *to, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int make_link(const struct tree *tree, const char *to, const char *format, ...)
{
	char name[128];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	return symlinkat(to, tree->dir, name) < 0 ? failed(tree, name) : 0;
}

static int make_file(const struct tree *tree, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int make_file(const struct tree *tree, const char *text, const char *format, ...)
{
	size_t length = strlen(text);
	char name[128];
	va_list args;
	int fd, ret = 0;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	fd = openat(tree->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0 || fchmod(fd, 0444) < 0 || write(fd, text, length) != (ssize_t)length)
		ret = failed(tree, name);
	if (fd >= 0)
		close(fd);
	return ret;
}

static char *format_list(hwloc_const_bitmap_t set)
{
	char *list = NULL, *line = NULL;

	if (hwloc_bitmap_list_asprintf(&list, set) < 0 || asprintf(&line, "%s\n", list) < 0)
		line = NULL;
	free(list);
	return line;
}

/* As the kernel has it: a comma before each 32 bits. */
static char *format_mask(hwloc_const_bitmap_t set)
{
	int words = hwloc_bitmap_last(set) < 0 ? 1 : hwloc_bitmap_last(set) / 32 + 1;
	char *text = malloc(9 * words + 1);

	for (int i = 0; text && i < words; i++) {
		int word = words - 1 - i;
		unsigned long bits = hwloc_bitmap_to_ith_ulong(set, word / 2);

		snprintf(text + 9 * i, 10, "%08lx%c", bits >> (word % 2 * 32) & 0xffffffffUL,
			 word ? ',' : '\n');
	}
	return text;
}

/* A set of CPUs or nodes, in both forms or in one; NULL: not in that. */
static int make_sets(const struct tree *tree, hwloc_const_bitmap_t set, const char *dir,
		     const char *mask_name, const char *list_name)
{
	char *mask = mask_name ? format_mask(set) : NULL;
	char *list = list_name ? format_list(set) : NULL;
	int ret = 0;

	if ((mask_name && !mask) || (list_name && !list))
		ret = ms_fail(tree->err, "out of memory");
	if (ret == 0 && mask)
		ret = make_file(tree, mask, "%s/%s", dir, mask_name);
	if (ret == 0 && list)
		ret = make_file(tree, list, "%s/%s", dir, list_name);
	free(mask);
	free(list);
	return ret;
}

/* ---- the machine, with nothing lent ---- */

static int copy_file(const struct tree *tree, const char *dir, const char *name)
{
	char text[8192];
	int length = kernel_read(text, sizeof(text) - 1, CPU_DIR "/%s/%s", dir, name);

	/* What this kernel does not tell is no reason to refuse jobs. */
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

/* Of 'from', all; or the CPUs' sections, each of which begins with "processor : NUMBER". */
static int copy_cpuinfo(const struct tree *tree, const char *from, hwloc_const_bitmap_t cpus)
{
	FILE *in = fopen(from, "re"), *out;
	bool wanted = !cpus;
	char *line = NULL;
	size_t size = 0;
	unsigned cpu;
	int fd, ret = 0;

	if (!in)
		return errno == ENOENT ? 0 : ms_fail(tree->err, "%s: %m", from);
	fd = openat(tree->dir, "cpuinfo", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0444);
	out = fd < 0 || fchmod(fd, 0444) < 0 ? NULL : fdopen(fd, "w");
	while (out && getline(&line, &size, in) > 0) {
		if (cpus && sscanf(line, "processor : %u", &cpu) == 1)
			wanted = hwloc_bitmap_isset(cpus, cpu);
		if (wanted)
			fputs(line, out);
	}
	free(line);
	fclose(in);
	if (!out || ferror(out))
		ret = failed(tree, "cpuinfo");
	if (out ? fclose(out) && ret == 0 : fd >= 0 && close(fd) < 0)
		ret = failed(tree, "cpuinfo");
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
	return ret == 0 ? copy_cpuinfo(tree, path, NULL) : ret;
}

/* ---- an LWK's CPUs ---- */

static int make_cpu(const struct tree *tree, unsigned cpu)
{
	static const char *const names[] = { "online", "topology", "cache" };
	int ret = make_dir(tree, "cpu/cpu%u", cpu);
	char to[64];

	for (size_t i = 0; ret == 0 && i < sizeof(names) / sizeof(*names); i++) {
		snprintf(to, sizeof(to), "../../../../" MACHINE "/cpu%u/%s", cpu, names[i]);
		ret = make_link(tree, to, "cpu/cpu%u/%s", cpu, names[i]);
	}
	return ret;
}

static int make_cpus(const struct tree *tree, hwloc_const_bitmap_t cpus)
{
	char possible[32], path[PATH_MAX];
	int cpu, ret = make_dir(tree, "cpu");

	/* From 0 on, as on any Linux: programs take it for how many numbers there can be. */
	snprintf(possible, sizeof(possible), "0-%d\n", hwloc_bitmap_last(cpus));
	if (ret == 0)
		ret = make_file(tree, possible, "cpu/possible");
	if (ret == 0)
		ret = make_sets(tree, cpus, "cpu", NULL, "online");
	if (ret == 0)
		ret = make_link(tree, "online", "cpu/present");
	hwloc_bitmap_foreach_begin(cpu, cpus) {
		if (ret == 0)
			ret = make_cpu(tree, cpu);
	}
	hwloc_bitmap_foreach_end();
	snprintf(path, sizeof(path), "%s/" MACHINE "/cpuinfo", state_dir);
	return ret == 0 ? copy_cpuinfo(tree, path, cpus) : ret;
}

/* ---- its NUMA nodes ---- */

/* Linux tells how far all nodes are that are on-line, in their order. */
static int make_distances(const struct tree *tree, hwloc_const_bitmap_t nodes, unsigned node)
{
	char text[8192], out[8192], *at = text;
	hwloc_bitmap_t online = hwloc_bitmap_alloc();
	size_t length = 0;
	int other, ret = 0;

	if (!online)
		return ms_fail(tree->err, "out of memory");
	if (kernel_read(text, sizeof(text), NODE_DIR "/node%u/distance", node) < 0 ||
	    kernel_read_list(online, NODE_DIR "/online") < 0) {
		hwloc_bitmap_free(online);
		return 0;
	}
	hwloc_bitmap_foreach_begin(other, online) {
		unsigned long distance = strtoul(at, &at, 10);

		if (hwloc_bitmap_isset(nodes, other) && length < sizeof(out))
			length += snprintf(out + length, sizeof(out) - length, "%s%lu",
					   length ? " " : "", distance);
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(online);
	if (length + 1 >= sizeof(out))
		return ms_fail(tree->err, NODE_DIR "/node%u/distance: longer than %zu characters",
			       node, sizeof(out));
	out[length++] = '\n';
	out[length] = '\0';
	ret = make_file(tree, out, "node/node%u/distance", node);
	return ret;
}

static int make_node(const struct tree *tree, hwloc_const_bitmap_t nodes,
		     const struct sysview_node *node, unsigned number)
{
	char dir[32], to[64], text[64];
	int cpu, ret;

	snprintf(dir, sizeof(dir), "node/node%u", number);
	snprintf(text, sizeof(text), "Node %u MemTotal: %14" PRIu64 " kB\n", number,
		 node->bytes >> 10);
	ret = make_dir(tree, "%s", dir);
	if (ret == 0)
		ret = make_sets(tree, node->cpus, dir, "cpumap", "cpulist");
	if (ret == 0)
		ret = make_file(tree, text, "%s/meminfo", dir);
	if (ret == 0)
		ret = make_distances(tree, nodes, number);
	hwloc_bitmap_foreach_begin(cpu, node->cpus) {
		snprintf(to, sizeof(to), "../../cpu/cpu%d", cpu);
		if (ret == 0)
			ret = make_link(tree, to, "%s/cpu%d", dir, cpu);
		snprintf(to, sizeof(to), "../../%s", dir);
		if (ret == 0)
			ret = make_link(tree, to, "cpu/cpu%d/node%u", cpu, number);
	}
	hwloc_bitmap_foreach_end();
	return ret;
}

enum which { ALL, WITH_CPUS, WITH_MEMORY };

static int make_node_lists(const struct tree *tree, const struct sysview_node *nodes, unsigned n)
{
	static const struct {
		const char *name;
		enum which which;
	} lists[] = {
		{ "online", ALL },
		{ "possible", ALL },
		{ "has_cpu", WITH_CPUS },
		{ "has_memory", WITH_MEMORY },
		{ "has_normal_memory", WITH_MEMORY },
	};
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int ret = set ? 0 : ms_fail(tree->err, "out of memory");

	for (size_t i = 0; ret == 0 && i < sizeof(lists) / sizeof(*lists); i++) {
		hwloc_bitmap_zero(set);
		for (unsigned node = 0; node < n; node++) {
			if (nodes[node].cpus &&
			    (lists[i].which == ALL ||
			     (lists[i].which == WITH_CPUS &&
			      !hwloc_bitmap_iszero(nodes[node].cpus)) ||
			     (lists[i].which == WITH_MEMORY && nodes[node].bytes)))
				hwloc_bitmap_set(set, node);
		}
		ret = make_sets(tree, set, "node", NULL, lists[i].name);
	}
	hwloc_bitmap_free(set);
	return ret;
}

static int make_nodes(const struct tree *tree, const struct sysview_node *nodes, unsigned n)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	int ret = all ? make_dir(tree, "node") : ms_fail(tree->err, "out of memory");

	if (ret == 0)
		ret = make_node_lists(tree, nodes, n);
	for (unsigned node = 0; ret == 0 && node < n; node++)
		if (nodes[node].cpus)
			hwloc_bitmap_set(all, node);
	for (unsigned node = 0; ret == 0 && node < n; node++)
		if (nodes[node].cpus)
			ret = make_node(tree, all, &nodes[node], node);
	hwloc_bitmap_free(all);
	return ret;
}

/* ---- trees as a whole ---- */

/* A new one, below the state directory. */
static int open_tree(struct tree *tree, int parent, const char *parent_name, const char *name,
		     struct ms_error *err)
{
	snprintf(tree->name, sizeof(tree->name), "%s%s", parent_name, name);
	tree->err = err;
	tree->dir = -1;
	if (mkdirat(parent, name, 0755) == 0 && fchmodat(parent, name, 0755, 0) == 0)
		tree->dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree->dir < 0)
		return ms_fail(err, "%s/%s: %m", state_dir, tree->name);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path) < 0 && errno != ENOENT ? errno : 0;
}

static int remove_tree(const char *name, struct ms_error *err)
{
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), "%s/%s", state_dir, name);
	error = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (error < 0)
		error = errno == ENOENT ? 0 : errno;
	return error ? ms_fail(err, "%s: cannot be removed: %s", path, strerror(error)) : 0;
}

int sysview_keep_machine(bool anew, struct ms_error *err)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	struct tree tree;
	int dir, ret;

	snprintf(path, sizeof(path), "%s/" MACHINE, state_dir);
	snprintf(fresh, sizeof(fresh), "%s/" MACHINE ".new", state_dir);
	if (!anew && access(path, F_OK) == 0)
		return 0;
	if (remove_tree(MACHINE ".new", err) < 0)
		return -1;
	dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ms_fail(err, "%s: %m", state_dir);
	ret = open_tree(&tree, dir, "", MACHINE ".new", err);
	close(dir);
	if (ret < 0)
		return -1;
	ret = copy_machine(&tree);
	close(tree.dir);
	if (ret == 0)
		ret = remove_tree(MACHINE, err);
	if (ret == 0 && rename(fresh, path) < 0)
		ret = ms_fail(err, "%s: %m", path);
	return ret;
}

int sysview_make(uint32_t job_id, hwloc_const_bitmap_t cpus, const struct sysview_node *nodes,
		 unsigned n, struct ms_error *err)
{
	struct tree tree;
	char name[32];
	int jobs, ret;

	if (sysview_remove(job_id, err) < 0)
		return -1;
	jobs = state_open_jobs(err);
	if (jobs < 0)
		return -1;
	snprintf(name, sizeof(name), "%u" SUFFIX, job_id);
	ret = open_tree(&tree, jobs, "jobs/", name, err);
	close(jobs);
	if (ret < 0)
		return -1;
	ret = make_cpus(&tree, cpus);
	if (ret == 0)
		ret = make_nodes(&tree, nodes, n);
	close(tree.dir);
	return ret;
}

int sysview_remove(uint32_t job_id, struct ms_error *err)
{
	char name[32];

	snprintf(name, sizeof(name), "jobs/%u" SUFFIX, job_id);
	return remove_tree(name, err);
}

int sysview_remove_all(struct ms_error *err)
{
	uint32_t *jobs;
	ssize_t n = state_jobs(SUFFIX, &jobs, err);
	int ret = n < 0 ? -1 : 0;

	for (ssize_t i = 0; i < n; i++)
		if (sysview_remove(jobs[i], err) < 0)
			ret = -1;
	free(jobs);
	return ret;
}
