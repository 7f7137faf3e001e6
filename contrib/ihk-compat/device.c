// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls on the device: reserving CPUs and memory, making and removing OS instances.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "driver/driver.h"
#include "holdings.h"
#include "machine/spare.h"
#include "modeswitch/job.h"

#define ALL (~0UL)

static const struct driver *const lwkpart = &driver_lwkpart;

/* The settings of ihk_reserve_mem_conf(), which last as long as the process. */
static int memory_settings[] = {
	[IHK_RESERVE_MEM_BALANCED_ENABLE] = 0,		[IHK_RESERVE_MEM_BALANCED_BEST_EFFORT] = 0,
	[IHK_RESERVE_MEM_BALANCED_VARIANCE_LIMIT] = 10, [IHK_RESERVE_MEM_MIN_CHUNK_SIZE] = GRAIN,
	[IHK_RESERVE_MEM_MAX_SIZE_RATIO_ALL] = 98,	[IHK_RESERVE_MEM_TIMEOUT] = 30,
};

static int add_to_pool(struct compat *compat, struct ms_lent lent)
{
	struct ms_lent *all = reallocarray(compat->lent, compat->n + 1, sizeof(*all));
	int *owner;

	if (!all)
		return -ENOMEM;
	compat->lent = all;
	owner = reallocarray(compat->owner, compat->n + 1, sizeof(*owner));
	if (!owner)
		return -ENOMEM;
	compat->owner = owner;
	compat->lent[compat->n] = lent;
	compat->owner[compat->n++] = OWNER_POOL;
	return 0;
}

static int give_back(struct compat *compat, const struct ms_lent *lent)
{
	if (lent->is_cpu)
		return lwkpart->return_cpu(compat->dev, lent->cpu);
	return lwkpart->return_memory(compat->dev, lent->start, lent->bytes);
}

/*
 * Gives Linux back the elements of 'lent' from the n-th on, after Linux has refused the next one.
 */
static void give_back_new(struct compat *compat, size_t n)
{
	while (compat->n > n)
		give_back(compat, &compat->lent[--compat->n]);
}

/* Gives the elements of 'lent' from the n-th on to the pool, or after an error back to Linux. */
static int finish_lending(struct compat *compat, size_t n, int error)
{
	if (!error)
		return compat_rearrange(compat, -1);
	give_back_new(compat, n);
	compat_end_lending();
	return error;
}

/* Gives back what callers have marked as others' and the pool still has. */
static int give_back_marked(struct compat *compat)
{
	int pool = compat_instance(compat, OWNER_POOL);
	int error = compat_rearrange(compat, -1), one;

	for (size_t i = 0; i < compat->n; i++) {
		if (pool < 0 || compat->lent[i].instance != pool || compat->owner[i] != OWNER_OTHER)
			continue;
		one = give_back(compat, &compat->lent[i]);
		error = error ? error : one;
	}
	return error;
}

static bool is_online(int cpu)
{
	char text[8];

	return cpu > 0 &&
	       kernel_read(text, sizeof(text), "/sys/devices/system/cpu/cpu%d/online", cpu) > 0 &&
	       *text == '1';
}

static int lend_cpus(struct compat *compat, const int *cpus, int n)
{
	int error = 0;

	for (int i = 0; i < n; i++) {
		if (!is_online(cpus[i]))
			return -EINVAL;
	}
	for (int i = 0; !error && i < n; i++) {
		error = lwkpart->lend_cpu(compat->dev, cpus[i]);
		if (!error)
			error = add_to_pool(compat,
					    (struct ms_lent){ .is_cpu = true, .cpu = cpus[i] });
	}
	/* The caller has named a CPU twice. */
	return error == -EALREADY || error == -ENODEV ? -EINVAL : error;
}

int ihk_reserve_cpu(int index, int *cpus, int num_cpus)
{
	struct compat compat;
	int error = compat_enter(&compat, index);
	size_t before = compat.n;

	if (!error)
		error = check_array(cpus, num_cpus);
	if (!error && num_cpus)
		error = compat_begin_lending(&compat);
	if (!error && num_cpus) {
		error = lend_cpus(&compat, cpus, num_cpus);
		error = finish_lending(&compat, before, error);
	}
	compat_leave(&compat);
	return error;
}

int ihk_get_num_reserved_cpus(int index)
{
	struct compat compat;
	int result = compat_enter(&compat, index);

	if (!result)
		result = count_cpus(&compat, OWNER_POOL);
	compat_leave(&compat);
	return result;
}

int ihk_query_cpu(int index, int *cpus, int num_cpus)
{
	struct compat compat;
	int error = compat_enter(&compat, index);

	if (!error)
		error = cpus ? copy_cpus(&compat, OWNER_POOL, cpus, num_cpus) : -EINVAL;
	compat_leave(&compat);
	return error;
}

int ihk_release_cpu(int index, int *cpus, int num_cpus)
{
	struct compat compat;
	int error = compat_enter(&compat, index);

	if (!error)
		error = check_array(cpus, num_cpus);
	if (!error)
		error = mark_cpus(&compat, cpus, num_cpus, OWNER_POOL, OWNER_OTHER);
	if (!error && num_cpus)
		error = give_back_marked(&compat);
	compat_leave(&compat);
	return error;
}

int ihk_reserve_mem_conf(int index, int key, void *value)
{
	size_t n = sizeof(memory_settings) / sizeof(*memory_settings);
	int number;

	if (!value)
		return -EFAULT;
	if (key < 0 || (size_t)key >= n)
		return -EINVAL;
	number = *(int *)value;
	if (number < 0 || (key == IHK_RESERVE_MEM_MAX_SIZE_RATIO_ALL && number > 100))
		return -EINVAL;
	memory_settings[key] = number;
	return 0;
}

/* Bytes of a node's memory; -EINVAL: there is no such node. */
static int64_t memory_of_node(int node, const char *key)
{
	char text[8192];

	if (kernel_read(text, sizeof(text), "/sys/devices/system/node/node%d/meminfo", node) < 0)
		return -EINVAL;
	return meminfo_bytes(text, key);
}

/* Lends the bytes in runs that are as large as Linux has them. */
static int lend_runs(struct compat *compat, uint64_t left, unsigned node, bool all)
{
	uint64_t least = memory_settings[IHK_RESERVE_MEM_MIN_CHUNK_SIZE], bytes = left, start;
	int64_t deadline = clock_ms() + memory_settings[IHK_RESERVE_MEM_TIMEOUT] * 1000LL;
	int error = 0;

	least = (least + GRAIN - 1) / GRAIN * GRAIN;
	while (left && bytes >= GRAIN && (bytes >= least || bytes == left)) {
		error = memory_linux_can_spare() < bytes
				? -ENOMEM
				: lwkpart->lend_run(compat->dev, bytes, node, &start);
		if (error && error != -ENOMEM)
			return error;
		if (error) {
			if (clock_ms() >= deadline)
				break;
			bytes = bytes / 2 / GRAIN * GRAIN;
			continue;
		}
		error = add_to_pool(
			compat, (struct ms_lent){ .node = node, .start = start, .bytes = bytes });
		if (error)
			return error;
		left -= bytes;
		bytes = bytes < left ? bytes : left;
	}
	return left && !all ? -ENOMEM : 0;
}

static int lend_chunk(struct compat *compat, const struct ihk_mem_chunk *chunk)
{
	bool all = chunk->size == ALL;
	int64_t bytes = memory_of_node(chunk->numa_node_number, all ? "MemFree" : "MemTotal");

	if (bytes < 0 || chunk->numa_node_number < 0)
		return -EINVAL;
	if (!all && (!chunk->size || chunk->size % GRAIN))
		return -EINVAL;
	/* Without this check the loop would take all memory before it finds that it lacks some. */
	if (!all && chunk->size > (uint64_t)bytes)
		return -ENOMEM;
	if (!all)
		bytes = chunk->size;
	else
		bytes = bytes / 100 * memory_settings[IHK_RESERVE_MEM_MAX_SIZE_RATIO_ALL] /
			(int64_t)GRAIN * (int64_t)GRAIN;
	return bytes ? lend_runs(compat, bytes, chunk->numa_node_number, all) : -EINVAL;
}

int ihk_reserve_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks)
{
	struct compat compat;
	int error = compat_enter(&compat, index);
	size_t before = compat.n;

	if (!error)
		error = check_array(mem_chunks, num_mem_chunks);
	if (!error && num_mem_chunks)
		error = compat_begin_lending(&compat);
	if (!error && num_mem_chunks) {
		for (int i = 0; !error && i < num_mem_chunks; i++)
			error = lend_chunk(&compat, &mem_chunks[i]);
		error = finish_lending(&compat, before, error);
	}
	compat_leave(&compat);
	return error;
}

int ihk_get_num_reserved_mem_chunks(int index)
{
	struct compat compat;
	int result = compat_enter(&compat, index);

	if (!result)
		result = count_memory(&compat, OWNER_POOL);
	compat_leave(&compat);
	return result;
}

int ihk_query_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks)
{
	struct compat compat;
	int error = compat_enter(&compat, index);

	if (!error && !mem_chunks)
		error = -EFAULT;
	if (!error)
		error = copy_memory(&compat, OWNER_POOL, mem_chunks, num_mem_chunks);
	compat_leave(&compat);
	return error;
}

int ihk_release_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks)
{
	struct compat compat;
	int error = compat_enter(&compat, index);

	if (!error)
		error = check_array(mem_chunks, num_mem_chunks);
	if (!error)
		error = mark_memory(&compat, mem_chunks, num_mem_chunks, OWNER_POOL, OWNER_OTHER,
				    true);
	if (!error && num_mem_chunks)
		error = give_back_marked(&compat);
	compat_leave(&compat);
	return error;
}

int ihk_create_os(int index)
{
	struct compat compat;
	struct json_object *settings = json_object_new_object();
	int result = compat_enter(&compat, index), os = 0, error;

	while (!result && os < MAX_OS && compat_instance(&compat, os) >= 0)
		os++;
	if (!result && os == MAX_OS)
		result = -ENOSPC;
	if (!result)
		result = compat_keep_settings(os, settings);
	if (!result) {
		error = compat_create(&compat, os, 0);
		result = error ? error : os;
	}
	json_object_put(settings);
	compat_leave(&compat);
	return result;
}

/* Lists the instances in ascending order; returns their number. */
static int list_instances(const struct compat *compat, int indices[MAX_OS])
{
	int n = 0;

	for (int os = 0; os < MAX_OS; os++) {
		if (compat_instance(compat, os) >= 0)
			indices[n++] = os;
	}
	return n;
}

int ihk_get_num_os_instances(int index)
{
	struct compat compat;
	int indices[MAX_OS], result = compat_enter(&compat, index);

	if (!result)
		result = list_instances(&compat, indices);
	compat_leave(&compat);
	return result;
}

int ihk_get_os_instances(int index, int *indices, int num_os_instances)
{
	struct compat compat;
	int all[MAX_OS], n, error = compat_enter(&compat, index);

	if (!error) {
		n = list_instances(&compat, all);
		if (n != num_os_instances)
			error = -EINVAL;
		else if (!indices)
			error = -EFAULT;
		else
			memcpy(indices, all, n * sizeof(*all));
	}
	compat_leave(&compat);
	return error;
}

int ihk_destroy_os(int dev_index, int os_index)
{
	struct compat compat;
	int error = compat_enter(&compat, dev_index);
	char path[64];

	if (!error &&
	    (os_index < 0 || os_index >= MAX_OS || compat_instance(&compat, os_index) < 0))
		error = -EINVAL;
	for (size_t i = 0; !error && i < compat.n; i++) {
		if (compat.owner[i] == os_index)
			compat.owner[i] = OWNER_POOL;
	}
	if (!error)
		error = compat_destroy(&compat, os_index);
	if (!error) {
		snprintf(path, sizeof(path), "/dev/mcos%d", os_index);
		unlink(path);
		error = compat_rearrange(&compat, -1);
	}
	compat_leave(&compat);
	return error;
}
