// SPDX-License-Identifier: GPL-2.0-or-later
#include "stub.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct stub *stub;

__attribute__((constructor)) static void share(void)
{
	stub = mmap(NULL, sizeof(*stub), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int device(int index)
{
	return index || stub->not_loaded ? -ENOENT : stub->no_smp ? -EINVAL : 0;
}

static int instance(int os)
{
	return os < 0 || os >= STUB_OS || !stub->os[os].exists ? -ENOENT : 0;
}

static int count(int n)
{
	return stub->garbage ? 123456789 : n;
}

static int find_cpu(int cpu)
{
	for (int i = 0; i < stub->n_cpus; i++) {
		if (stub->cpus[i].cpu == cpu)
			return i;
	}
	return -1;
}

int ihk_reserve_cpu(int index, int *cpus, int n)
{
	if (device(index))
		return device(index);
	for (int i = 0; i < n && !stub->lies; i++) {
		if (cpus[i] > 63)
			return -EINVAL;
		stub->cpus[stub->n_cpus].os = -1;
		stub->cpus[stub->n_cpus++].cpu = cpus[i];
	}
	return 0;
}

static int count_cpus(int os)
{
	int n = 0;

	for (int i = 0; i < stub->n_cpus; i++)
		n += stub->cpus[i].os == os;
	return n;
}

static int copy_cpus(int os, int *cpus, int n)
{
	if (n != count_cpus(os))
		return -EINVAL;
	for (int i = 0; i < stub->n_cpus; i++) {
		if (stub->cpus[i].os == os)
			*cpus++ = stub->cpus[i].cpu;
	}
	return 0;
}

int ihk_get_num_reserved_cpus(int index)
{
	return device(index) ? device(index) : count(count_cpus(-1));
}

int ihk_query_cpu(int index, int *cpus, int n)
{
	return device(index) ? device(index) : copy_cpus(-1, cpus, n);
}

int ihk_release_cpu(int index, int *cpus, int n)
{
	for (int i = 0; i < n; i++) {
		int at = find_cpu(cpus[i]);

		if (at < 0 || stub->cpus[at].os >= 0)
			return -EINVAL;
		stub->cpus[at] = stub->cpus[--stub->n_cpus];
	}
	return 0;
}

int ihk_reserve_mem_conf(int index, int key, void *value)
{
	if (key == IHK_RESERVE_MEM_MIN_CHUNK_SIZE)
		stub->least = *(int *)value;
	return 0;
}

static void add_chunk(unsigned long size, int node)
{
	stub->chunks[stub->n_chunks].chunk = (struct ihk_mem_chunk){ size, node };
	stub->chunks[stub->n_chunks++].os = -1;
}

int ihk_reserve_mem(int index, struct ihk_mem_chunk *chunks, int n)
{
	/* The largest page of Linux that IHK asks for. */
	if (stub->least > 8 << 20)
		return -EINVAL;
	for (int i = 0; i < n; i++) {
		unsigned long size = chunks[i].size;
		int node = chunks[i].numa_node_number;

		if (stub->partial || stub->fragments)
			add_chunk(size / 2, node);
		if (stub->partial)
			return -ENOMEM;
		add_chunk(stub->fragments ? size / 2 : size, node);
	}
	if (stub->dies)
		raise(SIGKILL);
	return 0;
}

static int count_chunks(int os)
{
	int n = 0;

	for (int i = 0; i < stub->n_chunks; i++)
		n += stub->chunks[i].os == os;
	return n;
}

static int copy_chunks(int os, struct ihk_mem_chunk *chunks, int n)
{
	if (n != count_chunks(os))
		return -EINVAL;
	for (int i = 0; i < stub->n_chunks; i++) {
		if (stub->chunks[i].os == os)
			*chunks++ = stub->chunks[i].chunk;
	}
	return 0;
}

static int find_chunk(const struct ihk_mem_chunk *chunk, int os)
{
	for (int i = 0; i < stub->n_chunks; i++) {
		if (stub->chunks[i].os == os && stub->chunks[i].chunk.size == chunk->size &&
		    stub->chunks[i].chunk.numa_node_number == chunk->numa_node_number)
			return i;
	}
	return -1;
}

int ihk_get_num_reserved_mem_chunks(int index)
{
	return device(index) ? device(index) : count(count_chunks(-1));
}

int ihk_query_mem(int index, struct ihk_mem_chunk *chunks, int n)
{
	return copy_chunks(-1, chunks, n);
}

int ihk_release_mem(int index, struct ihk_mem_chunk *chunks, int n)
{
	for (int i = 0; i < n; i++) {
		int at = find_chunk(&chunks[i], -1);

		if (at < 0 || stub->release_fails)
			return -EINVAL;
		stub->chunks[at] = stub->chunks[--stub->n_chunks];
	}
	return 0;
}

int ihk_create_os(int index)
{
	for (int os = 0; os < STUB_OS; os++) {
		if (stub->os[os].exists)
			continue;
		memset(&stub->os[os], 0, sizeof(stub->os[os]));
		stub->os[os].exists = true;
		return os;
	}
	return -EBUSY;
}

int ihk_get_num_os_instances(int index)
{
	int n = 0;

	for (int os = 0; os < STUB_OS; os++)
		n += stub->os[os].exists;
	return count(n);
}

int ihk_get_os_instances(int index, int *list, int n)
{
	for (int os = 0; os < STUB_OS; os++) {
		if (stub->os[os].exists)
			*list++ = os;
	}
	return 0;
}

static void strip(int os)
{
	for (int i = 0; i < stub->n_cpus; i++) {
		if (stub->cpus[i].os == os)
			stub->cpus[i].os = -1;
	}
	for (int i = 0; i < stub->n_chunks; i++) {
		if (stub->chunks[i].os == os)
			stub->chunks[i].os = -1;
	}
}

/* As with IHK, CPUs and memory of an instance that was never booted are lost with it. */
int ihk_destroy_os(int index, int os)
{
	if (instance(os))
		return -EINVAL;
	if (stub->is_ihk && !stub->os[os].removable)
		raise(SIGKILL);
	if (stub->os[os].booted)
		strip(os);
	stub->os[os].exists = false;
	return 0;
}

int ihk_os_assign_cpu(int os, int *cpus, int n)
{
	int at = find_cpu(cpus[0]);

	if (instance(os) || n != 1 || at < 0 || stub->cpus[at].os >= 0)
		return -EINVAL;
	stub->cpus[at].os = os;
	return 0;
}

int ihk_os_get_num_assigned_cpus(int os)
{
	return instance(os) ? instance(os) : count(count_cpus(os));
}

int ihk_os_query_cpu(int os, int *cpus, int n)
{
	return copy_cpus(os, cpus, n);
}

int ihk_os_release_cpu(int os, int *cpus, int n)
{
	if (n != count_cpus(os) || stub->os[os].booted)
		return -EINVAL;
	for (int i = 0; i < n; i++)
		stub->cpus[find_cpu(cpus[i])].os = -1;
	return 0;
}

int ihk_os_set_ikc_map(int os, struct ihk_ikc_cpu_map *map, int n)
{
	if (n != count_cpus(os))
		return -EINVAL;
	stub->os[os].map_n = n;
	stub->os[os].map_to = map[0].dst_cpu;
	return 0;
}

int ihk_os_assign_mem(int os, struct ihk_mem_chunk *chunks, int n)
{
	int at = find_chunk(chunks, -1);

	if (at < 0)
		return -ENOMEM;
	stub->chunks[at].os = os;
	return 0;
}

int ihk_os_get_num_assigned_mem_chunks(int os)
{
	return instance(os) ? instance(os) : count(count_chunks(os));
}

int ihk_os_query_mem(int os, struct ihk_mem_chunk *chunks, int n)
{
	return copy_chunks(os, chunks, n);
}

int ihk_os_release_mem(int os, struct ihk_mem_chunk *chunks, int n)
{
	if (stub->os[os].booted)
		return -EBUSY;
	for (int i = 0; i < n; i++) {
		int at = find_chunk(&chunks[i], os);

		if (at < 0)
			return -EINVAL;
		stub->chunks[at].os = -1;
	}
	return 0;
}

int ihk_os_load(int os, char *fn)
{
	FILE *file = fopen(fn, "re");
	char text[16] = "";

	if (!file)
		return -ENOENT;
	stub->os[os].loaded = fgets(text, sizeof(text), file) &&
			      (strcmp(text, "kernel") == 0 || strncmp(text, "\177ELF", 4) == 0);
	fclose(file);
	return stub->os[os].loaded ? 0 : -EINVAL;
}

int ihk_os_kargs(int os, char *kargs)
{
	snprintf(stub->os[os].kargs, sizeof(stub->os[os].kargs), "%s", kargs);
	return 0;
}

int ihk_os_boot(int os)
{
	while (stub->boot_hangs)
		pause();
	if (stub->boot_oopses)
		raise(SIGKILL);
	if (stub->is_ihk) {
		for (int i = 0; i < STUB_OS; i++) {
			if (stub->os[i].exists && stub->os[i].booted)
				return -EBUSY;
		}
		stub->os[os].removable = true;
		if (!count_cpus(os))
			return -EINVAL;
	}
	stub->os[os].booted = true;
	stub->os[os].status =
		stub->boot_false || stub->boot_late ? IHK_STATUS_BOOTING : IHK_STATUS_RUNNING;
	return stub->boot_late ? -EINVAL : 0;
}

/* False for a process that has ended, also before its parent has waited for it. */
static bool lives(pid_t pid)
{
	char path[64], program[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return pid && readlink(path, program, sizeof(program)) > 0;
}

int ihk_os_shutdown(int os)
{
	while (stub->shutdown_hangs || lives(stub->proxy))
		usleep(1000);
	stub->os[os].status = IHK_STATUS_INACTIVE;
	stub->os[os].ended = true;
	stub->os[os].booted = stub->os[os].removable = false;
	strip(os);
	return 0;
}

int ihk_os_get_status(int os)
{
	stub->status_asked++;
	while (stub->status_hangs)
		usleep(1000);
	stub->status_asked_before_boot += !*stub->os[os].kargs || stub->os[os].ended;
	if (stub->boot_late && --stub->boot_late == 0)
		stub->os[os].status = IHK_STATUS_RUNNING;
	return instance(os) ? instance(os) : stub->os[os].status;
}

int ihk_os_get_kmsg_size(int os)
{
	return count(64);
}

int ihk_os_kmsg(int os, char *kmsg, ssize_t size)
{
	if (size != 64)
		return -EINVAL;
	stub->kmsg_read++;
	strcpy(kmsg, "one\ntwo\n");
	return 8;
}

static int set_frozen(unsigned long *set, int status)
{
	for (int os = 0; os < STUB_OS && !stub->freeze_lies; os++) {
		if (*set & 1UL << os)
			stub->os[os].status = status;
	}
	return 0;
}

int ihk_os_freeze(unsigned long *set, int n)
{
	return set_frozen(set, IHK_STATUS_FROZEN);
}

int ihk_os_thaw(unsigned long *set, int n)
{
	return set_frozen(set, IHK_STATUS_RUNNING);
}

int ihk_os_makedumpfile(int os, char *path, int level, int interactive)
{
	FILE *file;

	if (instance(os) || level != 24 || interactive || !stub->os[os].booted)
		return -EINVAL;
	file = fopen(path, "wxe");
	if (!file)
		return -errno;
	fprintf(file, "a dump of %d", os);
	fclose(file);
	return 0;
}

int ihk_os_set_owner(int os, uid_t uid)
{
	stub->os[os].owner = uid;
	return 0;
}
