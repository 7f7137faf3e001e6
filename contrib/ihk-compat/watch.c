// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls that watch an OS instance, for root and for its user; and those that stop it for a
 * while, count events on it, and dump it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "abi/shared/counters.h"
#include "driver/lwkpart/lwkpart.h"
#include "holdings.h"
#include "watch/core_file.h"

#define FREEZE_MS 10000
#define BITS (8 * sizeof(unsigned long))

static const struct watching *const watching = &watching_lwkpart;

/* Opens an instance whose LWK was booted. A file descriptor; -EINVAL: it was not. */
static int open_booted(int os)
{
	struct ms_instance_info info;
	int fd = compat_watch(os), error;

	if (fd < 0)
		return fd;
	error = watching->info(fd, &info);
	if (!error && info.state == MS_INSTANCE_INACTIVE)
		error = -EINVAL;
	if (!error)
		return fd;
	close(fd);
	return error;
}

int ihk_os_get_status(int index)
{
	struct ms_instance_info info;
	int fd = compat_watch(index), error;

	if (fd < 0)
		return fd;
	error = watching->info(fd, &info);
	close(fd);
	_Static_assert((int)IHK_STATUS_FROZEN == (int)MS_INSTANCE_FROZEN, "the same states");
	return error ? -1 : (int)info.state;
}

int ihk_os_get_eventfd(int index, int type)
{
	static const enum ms_event status[] = { MS_EVENT_PANIC, MS_EVENT_HANG };
	static const enum ms_event oom[] = { MS_EVENT_OUT_OF_MEMORY };
	static const enum ms_event kmsg[] = { MS_EVENT_CONSOLE };
	const enum ms_event *events = type == IHK_OS_EVENTFD_TYPE_STATUS ? status
				      : type == IHK_OS_EVENTFD_TYPE_OOM	 ? oom
									 : kmsg;
	int fd = compat_watch(index), event, error = 0;

	if (fd < 0)
		return fd;
	if (type != IHK_OS_EVENTFD_TYPE_STATUS && type != IHK_OS_EVENTFD_TYPE_OOM &&
	    type != IHK_OS_EVENTFD_TYPE_KMSG) {
		close(fd);
		return -EINVAL;
	}
	event = eventfd(0, EFD_CLOEXEC);
	if (event < 0)
		error = -errno;
	for (int i = 0; !error && i < (events == status ? 2 : 1); i++)
		error = watching->listen(fd, events[i], event);
	/* Events come as long as the device is open: until this process ends. */
	if (!error)
		return event;
	close(fd);
	if (event >= 0)
		close(event);
	return error;
}

int ihk_os_get_kmsg_size(int index)
{
	int error = compat_may_read(index);

	return error ? error : IHK_KMSG_SIZE;
}

/* The position up to which the text has been cleared. Only root can read it. */
static uint64_t cleared(int os)
{
	struct json_object *settings = compat_settings(os), *position;
	uint64_t at = 0;

	if (json_object_object_get_ex(settings, "cleared", &position))
		at = json_object_get_uint64(position);
	json_object_put(settings);
	return at;
}

int ihk_os_kmsg(int index, char *kmsg, ssize_t sz_kmsg)
{
	int fd = open_booted(index), length = 0;
	ssize_t got = 1;
	uint64_t at;

	if (fd < 0)
		return fd;
	if (sz_kmsg != IHK_KMSG_SIZE)
		got = -EINVAL;
	else if (!kmsg)
		got = -EFAULT;
	else
		at = cleared(index);
	while (got > 0 && length < IHK_KMSG_SIZE - 1) {
		got = watching->console(fd, &at, kmsg + length, IHK_KMSG_SIZE - 1 - length);
		length += got > 0 ? got : 0;
	}
	close(fd);
	if (got < 0)
		return got;
	kmsg[length] = '\0';
	return length;
}

int ihk_os_clear_kmsg(int index)
{
	struct json_object *settings;
	char text[4096];
	struct compat compat;
	uint64_t at = 0;
	int error = compat_enter_os(&compat, index, false), fd = error ? -1 : compat_watch(index);

	while (fd >= 0 && watching->console(fd, &at, text, sizeof(text)) > 0)
		;
	if (fd >= 0) {
		close(fd);
		settings = compat_settings(index);
		json_object_object_add(settings, "cleared", json_object_new_uint64(at));
		error = compat_keep_settings(index, settings);
		json_object_put(settings);
	}
	compat_leave(&compat);
	return error ? error : fd < 0 ? fd : 0;
}

/* Fills in the instance's bytes of each NUMA node that it has memory of; returns how many. */
static int node_bytes(const struct compat *compat, int os, unsigned nodes[], uint64_t bytes[])
{
	int n = 0, at;

	for (size_t i = 0; i < compat->n; i++) {
		if (compat->owner[i] != os || compat->lent[i].is_cpu)
			continue;
		for (at = 0; at < n && nodes[at] != compat->lent[i].node; at++)
			;
		if (at == IHK_MAX_NUM_NUMA_NODES)
			continue;
		if (at == n) {
			nodes[n] = compat->lent[i].node;
			bytes[n++] = 0;
		}
		bytes[at] += compat->lent[i].bytes;
	}
	return n;
}

static int query_memory(int os, unsigned long *bytes, int n, bool free_only)
{
	static unsigned nodes[IHK_MAX_NUM_NUMA_NODES];
	static uint64_t total[IHK_MAX_NUM_NUMA_NODES];
	struct ms_usage usage = { 0 };
	struct compat compat;
	int fd = -1, error = compat_enter_os(&compat, os, false);

	if (!error)
		fd = open_booted(os);
	if (!error && fd < 0)
		error = fd;
	if (!error && !bytes)
		error = -EFAULT;
	if (!error && node_bytes(&compat, os, nodes, total) != n)
		error = -EINVAL;
	if (!error && free_only)
		error = watching->usage(fd, &usage);
	for (int i = 0; !error && i < n; i++) {
		bytes[i] = total[i];
		for (size_t j = 0; j < usage.n_nodes; j++) {
			const struct ms_node_usage *node = &usage.nodes[j];

			if (node->node == nodes[i])
				bytes[i] -= node->bytes_4k + node->bytes_2m;
		}
	}
	ms_usage_release(&usage);
	if (fd >= 0)
		close(fd);
	compat_leave(&compat);
	return error;
}

int ihk_os_query_total_mem(int index, unsigned long *memtotal, int num_numa_nodes)
{
	return query_memory(index, memtotal, num_numa_nodes, false);
}

int ihk_os_query_free_mem(int index, unsigned long *memfree, int num_numa_nodes)
{
	return query_memory(index, memfree, num_numa_nodes, true);
}

int ihk_os_get_num_numa_nodes(int index)
{
	static unsigned nodes[IHK_MAX_NUM_NUMA_NODES];
	static uint64_t bytes[IHK_MAX_NUM_NUMA_NODES];
	struct compat compat;
	int result = compat_enter_os(&compat, index, false);

	if (!result)
		result = node_bytes(&compat, index, nodes, bytes);
	compat_leave(&compat);
	return result;
}

int ihk_os_get_num_pagesizes(int index)
{
	int error = compat_may_read(index);

	return error ? error : IHK_MAX_NUM_PGSIZES;
}

int ihk_os_get_pagesizes(int index, long *pgsizes, int num_pgsizes)
{
	static const long sizes[IHK_MAX_NUM_PGSIZES] = {
		[IHK_OS_PGSIZE_4KB] = 1L << 12,	  [IHK_OS_PGSIZE_64KB] = 1L << 16,
		[IHK_OS_PGSIZE_2MB] = 1L << 21,	  [IHK_OS_PGSIZE_32MB] = 1L << 25,
		[IHK_OS_PGSIZE_1GB] = 1L << 30,	  [IHK_OS_PGSIZE_16GB] = 1L << 34,
		[IHK_OS_PGSIZE_512MB] = 1L << 29, [IHK_OS_PGSIZE_4TB] = 1L << 42,
	};
	int error = compat_may_read(index);

	if (error)
		return error;
	if (!pgsizes)
		return -EFAULT;
	if (num_pgsizes != IHK_MAX_NUM_PGSIZES)
		return -EINVAL;
	memcpy(pgsizes, sizes, sizeof(sizes));
	return 0;
}

static void fill_rusage(const struct ms_usage *usage, struct ihk_os_rusage *rusage)
{
	memset(rusage, 0, sizeof(*rusage));
	for (size_t i = 0; i < usage->n_nodes; i++) {
		const struct ms_node_usage *node = &usage->nodes[i];

		rusage->memory_stat_rss[IHK_OS_PGSIZE_4KB] += node->bytes_4k;
		rusage->memory_stat_rss[IHK_OS_PGSIZE_2MB] += node->bytes_2m;
		if (node->node < IHK_MAX_NUM_NUMA_NODES)
			rusage->memory_numa_stat[node->node] = node->bytes_4k + node->bytes_2m;
	}
	rusage->memory_max_usage = usage->memory_peak;
	rusage->memory_kmem_usage = usage->kernel_used;
	rusage->memory_kmem_max_usage = usage->kernel_peak;
	rusage->cpuacct_stat_user = usage->total.user_ns;
	rusage->cpuacct_stat_system = usage->total.system_ns + usage->total.delegating_ns;
	for (size_t i = 0; i < usage->n_cpus && i < IHK_MAX_NUM_CPUS; i++) {
		const struct ms_counts *counts = &usage->cpus[i].counts;

		rusage->cpuacct_usage_percpu[i] =
			counts->user_ns + counts->system_ns + counts->delegating_ns;
		rusage->cpuacct_usage += rusage->cpuacct_usage_percpu[i];
	}
	rusage->num_threads = rusage->max_num_threads = usage->threads;
}

int ihk_os_getrusage(int index, struct ihk_os_rusage *rusage, size_t size_rusage)
{
	struct ms_usage usage = { 0 };
	int fd, error;

	if (!rusage)
		return -EFAULT;
	if (size_rusage != sizeof(*rusage))
		return -EINVAL;
	fd = open_booted(index);
	if (fd < 0)
		return fd;
	error = watching->usage(fd, &usage);
	if (!error)
		fill_rusage(&usage, rusage);
	ms_usage_release(&usage);
	close(fd);
	return error == -ENODATA ? -EINVAL : error;
}

/* Sets general counters for as many events as the CPUs have of them. */
static int set_counters(int fd, const ihk_perf_event_attr *attr, int n)
{
	struct lwk_counter counters[MS_MAX_COUNTERS] = { 0 };
	struct ms_usage usage = { 0 };
	int error = watching->usage(fd, &usage), room;

	room = usage.pmu.version ? (int)usage.pmu.counters : 0;
	ms_usage_release(&usage);
	if (error)
		return error;
	if (!room)
		return -ENODEV;
	room = room < MS_MAX_COUNTERS ? room : MS_MAX_COUNTERS;
	n = n < room ? n : room;
	for (int i = 0; i < n; i++) {
		counters[i] = (struct lwk_counter){
			.kind = LWK_COUNTER_GENERAL,
			.number = i,
			.select = (attr[i].config & LWK_SELECT_EVENT) |
				  (attr[i].exclude_user ? 0 : LWK_SELECT_USER) |
				  (attr[i].exclude_kernel ? 0 : LWK_SELECT_SYSTEM),
		};
	}
	error = watching->set_counters(fd, counters, n);
	return error ? error : n;
}

int ihk_os_setperfevent(int index, ihk_perf_event_attr *attr, int n)
{
	int fd, result;

	if (!attr)
		return -EFAULT;
	fd = open_booted(index);
	if (fd < 0)
		return fd;
	result = n > 0 ? set_counters(fd, attr, n) : -EINVAL;
	close(fd);
	return result;
}

int ihk_os_perfctl(int index, int comm)
{
	int fd = open_booted(index), error;

	if (fd < 0)
		return fd;
	switch (comm) {
	case PERF_EVENT_ENABLE:
	case PERF_EVENT_DISABLE:
		error = watching->run_counters(fd, comm == PERF_EVENT_ENABLE);
		break;
	case PERF_EVENT_DESTROY:
		error = watching->set_counters(fd, NULL, 0);
		break;
	default:
		error = -EINVAL;
	}
	close(fd);
	/* There are no counters. */
	return error == -ENOENT ? -EINVAL : error;
}

int ihk_os_getperfevent(int index, unsigned long *counter, int n)
{
	struct ms_counters counters = { 0 };
	int fd = open_booted(index), error;

	if (fd < 0)
		return fd;
	error = n <= 0 ? -EINVAL : counter ? 0 : -EFAULT;
	if (!error)
		error = watching->read_counters(fd, &counters);
	if (!error && (size_t)n != counters.n)
		error = -EINVAL;
	for (int i = 0; !error && i < n; i++) {
		counter[i] = 0;
		for (size_t cpu = 0; cpu < counters.n_cpus; cpu++)
			counter[i] += counters.cpus[cpu].values[i];
	}
	ms_counters_release(&counters);
	close(fd);
	return error;
}

static int freeze(unsigned long *os_set, int n, bool frozen)
{
	int error = n > 0 ? 0 : -EINVAL, fd;

	if (!error && !os_set)
		error = -EFAULT;
	for (int os = 0; !error && os < n; os++) {
		if (!(os_set[os / BITS] & 1UL << os % BITS))
			continue;
		fd = compat_watch(os);
		error = fd < 0 ? fd : watching->freeze(fd, frozen, FREEZE_MS);
		if (fd >= 0)
			close(fd);
	}
	/* The LWK does not run. */
	return error == -EHOSTDOWN ? -EINVAL : error;
}

int ihk_os_freeze(unsigned long *os_set, int n)
{
	return freeze(os_set, n, true);
}

int ihk_os_thaw(unsigned long *os_set, int n)
{
	return freeze(os_set, n, false);
}

/* Dumps of any level have all of the LWK's kernel, and nothing of its programs. */
int ihk_os_makedumpfile(int index, char *dump_file, int dump_level, int interactive)
{
	struct core_source source = { .driver = &driver_lwkpart };
	char name[64];
	time_t now = time(NULL);
	struct compat compat;
	struct instance_info info;
	struct tm broken;
	int error = compat_enter_os(&compat, index, false);

	if (!error && ((dump_level != 0 && dump_level != 24) || interactive))
		error = -EINVAL;
	if (!error && !dump_file) {
		localtime_r(&now, &broken);
		strftime(name, sizeof(name), "mcdump_%Y%m%d_%H%M%S", &broken);
		dump_file = name;
	}
	if (!error) {
		source.dev = compat.dev;
		source.instance = compat_instance(&compat, index);
		error = driver_lwkpart.info(compat.dev, source.instance, &info);
		source.job_id = info.job_id;
	}
	if (!error)
		error = core_file_write(&source, AT_FDCWD, dump_file);
	compat_leave(&compat);
	return error == -ENODATA ? -EINVAL : error;
}

int ihk_set_loglevel(enum IHKLIB_LOGLEVEL level)
{
	/* The library prints nothing. */
	return (int)level < IHKLIB_LOGLEVEL_EMERG || level > IHKLIB_LOGLEVEL_ERR ? -EINVAL : 0;
}
