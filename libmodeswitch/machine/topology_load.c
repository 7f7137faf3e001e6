// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/topology_load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"

/* The topologies of the largest machines take a few megabytes. */
#define LARGEST_FILE (64 << 20)
/* The limits of hwloc with XML that somebody else has written. */
#define FOREIGN_MS 10000
#define FOREIGN_BYTES (512UL << 20)
#define MAX_CPU 65535

extern char **environ;

/* hwloc takes files, roots and even plugins from HWLOC_*, which root must not trust. */
static void forget_hwloc_environment(void)
{
	char name[128];

	for (char **variable = environ; variable && *variable;) {
		size_t length = strcspn(*variable, "=");

		if (strncmp(*variable, "HWLOC_", strlen("HWLOC_")) != 0 || length >= sizeof(name)) {
			variable++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)length, *variable);
		unsetenv(name);
		variable = environ;
	}
}

/*
 * Keeps hwloc from loading its plugins, which find devices, display servers and OpenCL platforms by
 * libraries of their vendors. No plan needs them, root's processes need not run them, and loading
 * them takes longer than the plan. Code that is built into hwloc reads and writes its XML.
 */
static void leave_out_plugins(void)
{
	setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
}

/*
 * Makes hwloc show all nodes of numa=fake=. hwloc 2.9 takes nodes with the same CPUs for a mistake
 * of the firmware, and leaves out all but the first, unless it is told otherwise.
 */
static void believe_fake_nodes(void)
{
	char command_line[4096];

	if (kernel_read(command_line, sizeof(command_line), "/proc/cmdline") <= 0 ||
	    !strstr(command_line, "numa=fake="))
		return;
	setenv("HWLOC_DEBUG_ALLOW_OVERLAPPING_NODE_CPUSETS", "1", 1);
	/* hwloc would print a line for each of these nodes. */
	setenv("HWLOC_HIDE_ERRORS", "2", 1);
}

/* Loads a topology from XML in memory, or this machine's if 'xml' is NULL. */
static int load(char *xml, size_t size, const char *name, hwloc_topology_t *out,
		struct ms_error *err)
{
	hwloc_topology_t topology;

	forget_hwloc_environment();
	leave_out_plugins();
	if (!xml)
		believe_fake_nodes();
	if (hwloc_topology_init(&topology) < 0)
		return ms_fail(err, "hwloc: %m");
	/*
	 * The cpuset of this process, Slurm's for system processes, must hide nothing: neither here
	 * nor from slurmd, which may read the kept topology.
	 */
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
	    (!xml || hwloc_topology_set_xmlbuffer(topology, xml, size) == 0) &&
	    hwloc_topology_load(topology) == 0 &&
	    hwloc_topology_allow(topology, NULL, NULL, HWLOC_ALLOW_FLAG_ALL) == 0) {
		*out = topology;
		return 0;
	}
	hwloc_topology_destroy(topology);
	return ms_fail(err, "%s: expected an hwloc topology (XML, as lstopo writes it), found: %s",
		       name, xml ? "something else" : strerror(errno));
}

/* True when there are numbers that no CPU list can have. */
static bool has_high_numbers(hwloc_topology_t topology)
{
	static const hwloc_obj_type_t types[] = { HWLOC_OBJ_PU, HWLOC_OBJ_NUMANODE };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (hwloc_obj_t one = NULL;
		     (one = hwloc_get_next_obj_by_type(topology, types[i], one));)
			if (one->os_index > MAX_CPU)
				return true;
	return false;
}

/* True when each number of the set is that of an object of the type. */
static bool has_objects(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_bitmap_t set)
{
	hwloc_bitmap_t there = hwloc_bitmap_alloc();
	hwloc_obj_t one = NULL;
	bool all;

	while ((one = hwloc_get_next_obj_by_type(topology, type, one)))
		hwloc_bitmap_set(there, one->os_index);
	all = hwloc_bitmap_isincluded(set, there);
	hwloc_bitmap_free(there);
	return all;
}

/* Checks that there are CPUs and memory, with numbers that a CPU list can have. */
static int check_usable(hwloc_topology_t topology, const char *path, struct ms_error *err)
{
	hwloc_const_bitmap_t cpus = hwloc_topology_get_topology_cpuset(topology);
	hwloc_const_bitmap_t nodes = hwloc_topology_get_topology_nodeset(topology);
	int n_cpus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	int n_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);

	if (n_cpus < 1 || n_nodes < 1)
		return ms_fail(err,
			       "%s: expected a machine with CPUs and NUMA nodes, found one with %d "
			       "CPUs and %d NUMA nodes",
			       path, n_cpus, n_nodes);
	if (hwloc_bitmap_last(cpus) < 0 || hwloc_bitmap_last(cpus) > MAX_CPU ||
	    hwloc_bitmap_last(nodes) < 0 || hwloc_bitmap_last(nodes) > MAX_CPU)
		return ms_fail(
			err,
			"%s: expected CPUs and NUMA nodes with numbers up to %d, found higher "
			"ones",
			path, MAX_CPU);
	if (!has_objects(topology, HWLOC_OBJ_PU, cpus) ||
	    !has_objects(topology, HWLOC_OBJ_NUMANODE, nodes))
		return ms_fail(err,
			       "%s: expected CPUs and NUMA nodes with the numbers that the machine "
			       "has, found other ones",
			       path);
	return 0;
}

/* Reads a whole regular file, with a NUL at its end. */
static char *read_whole(const char *path, size_t *size, struct ms_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;
	ssize_t got;

	*size = 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		ms_fail(err, "%s: %m", path);
	} else if (!S_ISREG(st.st_mode)) {
		ms_fail(err,
			"%s: expected a regular file with an hwloc topology, found another kind",
			path);
	} else if (st.st_size > LARGEST_FILE) {
		ms_fail(err,
			"%s: expected an hwloc topology of at most %d MB, found %jd MB, so it "
			"is something else",
			path, LARGEST_FILE >> 20, (intmax_t)st.st_size >> 20);
	} else if (!(text = malloc(st.st_size + 1))) {
		ms_fail(err, "out of memory");
	} else {
		while (*size < (size_t)st.st_size &&
		       (got = read(fd, text + *size, st.st_size - *size)) > 0)
			*size += got;
		text[(*size)++] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Loads XML, and frees it. */
static int load_usable(char *xml, size_t size, const char *path, hwloc_topology_t *out,
		       struct ms_error *err)
{
	int ret = load(xml, size, path, out, err);

	free(xml);
	if (ret == 0 && check_usable(*out, path, err) < 0) {
		hwloc_topology_destroy(*out);
		ret = -1;
	}
	return ret;
}

int topology_load_live(hwloc_topology_t *out, struct ms_error *err)
{
	return load(NULL, 0, "this machine", out, err);
}

int topology_load_own(const char *path, hwloc_topology_t *out, struct ms_error *err)
{
	size_t size;
	char *xml = read_whole(path, &size, err);

	return xml ? load_usable(xml, size, path, out, err) : -1;
}

/* ---- XML that anybody may have written ---- */

struct foreign {
	char *xml;
	size_t size;
};

/* A fault ends this process, without a core file and without what the program does at a fault. */
static void die_of_faults(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

	prctl(PR_SET_DUMPABLE, 0);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		signal(faults[i], SIG_DFL);
}

/*
 * Loads XML in a child process, because hwloc up to 2.9 ends by a signal on some texts, and makes
 * sets of gigabytes of others. The child has the parent's memory, so what happens to it is what
 * would happen to the parent.
 */
static int try_out(void *context)
{
	const struct foreign *foreign = context;
	hwloc_topology_t topology;
	struct ms_error ignored;
	bool high;

	die_of_faults();
	child_limit_memory(FOREIGN_BYTES);
	if (load(foreign->xml, foreign->size, "", &topology, &ignored) < 0)
		return -EINVAL;
	high = has_high_numbers(topology);
	hwloc_topology_destroy(topology);
	return high ? -ERANGE : 0;
}

/* Returns what was found instead of a topology; NULL: the XML can be loaded. */
static const char *find_fault(char *xml, size_t size)
{
	struct foreign foreign = { xml, size };
	int error = child_call_alone(try_out, &foreign, -1, clock_ms() + FOREIGN_MS);

	switch (error) {
	case 0:
		return NULL;
	case -EINVAL:
		return "something else";
	case -ERANGE:
		return "numbers of CPUs or NUMA nodes that no machine has";
	case -ECHILD:
		return "XML at which hwloc ends by a signal";
	case -ETIMEDOUT:
		return "XML that keeps hwloc busy without end";
	default:
		return strerror(-error);
	}
}

int topology_load_xml(const char *path, hwloc_topology_t *out, struct ms_error *err)
{
	size_t size;
	char *xml = read_whole(path, &size, err);
	const char *fault = xml ? find_fault(xml, size) : NULL;

	if (xml && !fault)
		return load_usable(xml, size, path, out, err);
	free(xml);
	return fault ? ms_fail(err,
			       "%s: expected an hwloc topology (XML, as lstopo writes it), found "
			       "%s; write it with lstopo FILE.xml on that machine",
			       path, fault)
		     : -1;
}
