/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /sys/devices/system/cpu and node, and /proc/cpuinfo, as the LWK process sees itself: Linux has
 * not these CPUs any more. Who switched them to the LWK has kept what Linux knew of them, in a tree
 * of root's for each job (libmodeswitch, sysview.h). How much of the memory is free, the LWK knows.
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

#define TREES "/run/slurm-lwk/jobs"

static const struct {
	const char *linuxs, *ours;
} places[] = {
	{ "/sys/devices/system/cpu", "cpu" },
	{ "/sys/devices/system/node", "node" },
	{ "/proc/cpuinfo", "cpuinfo" },
};

/* 0: not known yet. It was made before the LWK booted, and stays until that has ended. */
static atomic_int tree_is_there;

/* The job's number is what lwkpart.ko says. False: this LWK was not started by such a switch. */
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

bool view_path(const char *path, char ours[PATH_MAX])
{
	char tree[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t length = strlen(places[i].linuxs);

		if (strncmp(path, places[i].linuxs, length) != 0 ||
		    (path[length] && path[length] != '/'))
			continue;
		return find_tree(tree) && snprintf(ours, PATH_MAX, "%s/%s%s", tree, places[i].ours,
						   path + length) < PATH_MAX;
	}
	return false;
}

static FILE *open_ours(const char *path)
{
	char ours[PATH_MAX];

	return view_path(path, ours) ? fopen(ours, "re") : NULL;
}

bool view_nodes(struct numbers *nodes)
{
	FILE *in = open_ours("/sys/devices/system/node/has_memory");
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

/* Of the node's memory, what is there for processes; 0: it is not known. */
static uint64_t node_bytes(unsigned node)
{
	unsigned long long kb;
	char path[64];
	bool known;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	in = open_ours(path);
	known = in && fscanf(in, "Node %*u MemTotal: %llu kB", &kb) == 1;
	if (in)
		fclose(in);
	if (!known)
		return 0;
	if (node == session.status->kernel_node && kb << 10 >= session.status->kernel_bytes)
		return (kb << 10) - session.status->kernel_bytes;
	return kb << 10;
}

static uint64_t node_used(unsigned node)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < session.status->n_slots && i < LWK_MAX_SLOTS; i++) {
		const struct lwk_node_pages *pages = &session.status->cpu[i].memory.node[node];

		bytes += pages->pages_4k * 4096 + pages->pages_2m * (2UL << 20);
	}
	return bytes;
}

static int64_t make_meminfo(const char *of, uint64_t total, uint64_t used, int flags)
{
	static const char *const nothing[] = { "Buffers", "Cached", "SwapTotal", "SwapFree" };
	uint64_t unused = total > used ? total - used : 0;
	const struct {
		const char *name;
		uint64_t bytes;
	} lines[] = {
		{ "MemTotal", total },
		{ "MemFree", unused },
		{ *of ? "MemUsed" : "MemAvailable", *of ? used : unused },
	};
	char text[1024];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s:%*llu kB\n", of, lines[i].name,
			      23 - (int)strlen(lines[i].name),
			      (unsigned long long)lines[i].bytes >> 10);
	for (size_t i = 0; !*of && i < sizeof(nothing) / sizeof(nothing[0]); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s:%*d kB\n", nothing[i],
			      23 - (int)strlen(nothing[i]), 0);
	return self_file(text, n, flags);
}

bool view_open(const char *path, int flags, int64_t *result)
{
	char of[32];
	unsigned node;
	int end = 0;

	if (strcmp(path, "/proc/meminfo") == 0) {
		*result = make_meminfo("", session.status->user_bytes, self_lwk_used(), flags);
		return true;
	}
	/* What is used on the nodes from the last of these on, is counted together. */
	if (sscanf(path, "/sys/devices/system/node/node%u/meminfo%n", &node, &end) != 1 || !end ||
	    path[end] || node >= LWK_STATUS_NODES - 1 || !node_bytes(node))
		return false;
	snprintf(of, sizeof(of), "Node %u ", node);
	*result = make_meminfo(of, node_bytes(node), node_used(node), flags);
	return true;
}
