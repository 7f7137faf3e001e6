/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/sys.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/device/watch.h"
#include "lwkexec/instance/session.h"

#define TREES "/run/slurm-lwk/jobs"

static const struct {
	const char *linuxs, *kept;
} places[] = {
	{ "/sys/devices/system/cpu", "cpu" },
	{ "/sys/devices/system/node", "node" },
	{ "/proc/cpuinfo", "cpuinfo" },
};

/* 0: not known yet. The tree is made before the LWK boots and stays until the LWK has ended. */
static atomic_int tree_is_there;

/* False: the job has no tree, because its LWK was not started by a switch that makes one. */
static bool find_tree(char path[64])
{
	struct lwk_instance_details details;

	if (atomic_load(&tree_is_there) < 0 || ioctl(session.device, LWK_GET_DETAILS, &details))
		return false;
	snprintf(path, 64, TREES "/%u.sys", details.job_id);
	if (!atomic_load(&tree_is_there))
		atomic_store(&tree_is_there, access(path, X_OK) ? -1 : 1);
	return atomic_load(&tree_is_there) > 0;
}

bool sys_path(const char *path, char kept[PATH_MAX])
{
	char tree[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t length = strlen(places[i].linuxs);

		if (strncmp(path, places[i].linuxs, length) != 0 ||
		    (path[length] && path[length] != '/'))
			continue;
		return find_tree(tree) && snprintf(kept, PATH_MAX, "%s/%s%s", tree, places[i].kept,
						   path + length) < PATH_MAX;
	}
	return false;
}

FILE *sys_open(const char *path)
{
	char kept[PATH_MAX];

	return sys_path(path, kept) ? fopen(kept, "re") : NULL;
}

bool sys_nodes(struct numbers *nodes)
{
	FILE *in = sys_open("/sys/devices/system/node/has_memory");
	unsigned first, last;
	int n;

	memset(nodes, 0, sizeof(*nodes));
	if (!in)
		return false;
	while ((n = fscanf(in, "%u-%u", &first, &last)) > 0) {
		if (n == 1)
			last = first;
		for (; first <= last && first < NUMBERS; first++)
			numbers_add(nodes, first);
		if (getc(in) != ',')
			break;
	}
	fclose(in);
	return true;
}
