// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The texts of /proc, /sys and cgroups that the library reads; users choose some of the names in
 * them.
 */
#include <string.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "base/parse.h"
#include "fuzz.h"
#include "library/files.h"
#include "modeswitch/config.h"
#include "modeswitch/interrupts.h"

static void read_cgroup(const char *controller)
{
	struct hierarchy hierarchy;
	char path[256];

	if (hierarchy_find(controller, &hierarchy) == 0 &&
	    hierarchy_path_of_process(&hierarchy, 1, path, sizeof(path)) == 0)
		must(strncmp(path, hierarchy.mount, strlen(hierarchy.mount)) == 0);
}

static int look(const struct job_cgroup *cgroup, void *context)
{
	must(*cgroup->path && *cgroup->mount);
	return 0;
}

static void read_interrupts(void)
{
	struct ms_error err;
	struct ms_irqs irqs;

	if (ms_irqs_read(&irqs, &err) < 0)
		return;
	for (size_t i = 0; i < irqs.n_irqs; i++)
		must(strlen(irqs.irqs[i].name) < sizeof(irqs.irqs[i].name));
	ms_irqs_of_cpu(&irqs, 0, true);
	ms_irqs_release(&irqs);
}

static void read_values(const char *text)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	struct ms_error err;
	uint64_t bytes;
	char formatted[FORMAT_SIZE];

	if (ms_parse_cpus(text, set, &err) == 0)
		must(hwloc_bitmap_last(set) <= 65535);
	parse_mask(text, set);
	if (ms_parse_size(text, &bytes, &err) == 0)
		format_size(bytes, formatted);
	format_size(meminfo_bytes(text, "MemTotal"), formatted);
	hwloc_bitmap_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	switch (take_byte(&input) % 4) {
	case 0:
		files_put("proc/self/mounts", input.at, input.left);
		read_cgroup("cpuset");
		job_cgroups_each(ALL_JOBS, look, NULL);
		break;
	case 1:
		files_put("proc/self/mounts", "c /sys/fs/cgroup cgroup2 rw 0 0\n", 32);
		files_put("proc/1/cgroup", input.at, input.left);
		read_cgroup("memory");
		job_of_process(1);
		break;
	case 2:
		files_put("proc/interrupts", input.at, input.left);
		read_interrupts();
		break;
	case 3:
		read_values(take_text(&input));
		break;
	}
	return 0;
}
