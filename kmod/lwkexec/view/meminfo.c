/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/meminfo.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/memory.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/view/sys.h"
#include "lwkexec/view/text_file.h"

/* Bytes of the node's memory that the LWK has for processes; 0: they are not known. */
static uint64_t node_bytes(unsigned node)
{
	unsigned long long kb;
	char path[64];
	bool known;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	in = sys_open(path);
	known = in && fscanf(in, "Node %*u MemTotal: %llu kB", &kb) == 1;
	if (in)
		fclose(in);
	if (!known)
		return 0;
	if (node == session.status->kernel_node && kb << 10 >= session.status->kernel_bytes)
		return (kb << 10) - session.status->kernel_bytes;
	return kb << 10;
}

static int64_t make_meminfo(const char *prefix, uint64_t total, uint64_t used, int flags)
{
	static const char *const nothing[] = { "Buffers", "Cached", "SwapTotal", "SwapFree" };
	uint64_t unused = total > used ? total - used : 0;
	const struct {
		const char *name;
		uint64_t bytes;
	} lines[] = {
		{ "MemTotal", total },
		{ "MemFree", unused },
		{ *prefix ? "MemUsed" : "MemAvailable", *prefix ? used : unused },
	};
	char text[1024];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s:%*llu kB\n", prefix, lines[i].name,
			      23 - (int)strlen(lines[i].name),
			      (unsigned long long)lines[i].bytes >> 10);
	for (size_t i = 0; !*prefix && i < sizeof(nothing) / sizeof(nothing[0]); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s:%*d kB\n", nothing[i],
			      23 - (int)strlen(nothing[i]), 0);
	return text_file(text, n, flags);
}

bool meminfo_open(const char *path, int flags, int64_t *result)
{
	char prefix[32];
	unsigned node;
	int end = 0;

	if (strcmp(path, "/proc/meminfo") == 0) {
		*result = make_meminfo("", session.status->user_bytes, memory_used(), flags);
		return true;
	}
	/* The last element counts the use of all further nodes together. */
	if (sscanf(path, "/sys/devices/system/node/node%u/meminfo%n", &node, &end) != 1 || !end ||
	    path[end] || node >= LWK_STATUS_NODES - 1 || !node_bytes(node))
		return false;
	snprintf(prefix, sizeof(prefix), "Node %u ", node);
	*result = make_meminfo(prefix, node_bytes(node), memory_used_on(node), flags);
	return true;
}

int64_t meminfo_sysinfo(uint64_t to)
{
	uint64_t total = session.status->user_bytes, used = memory_used();
	struct sysinfo all, info = { .totalram = total, .procs = session.cpus, .mem_unit = 1 };

	if (sysinfo(&all) == 0)
		info.uptime = all.uptime;
	info.freeram = total > used ? total - used : 0;
	return copy_out(to, &info, sizeof(info));
}
