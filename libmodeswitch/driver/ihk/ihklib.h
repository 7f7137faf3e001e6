/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of IHK's library, libihk, as its documentation describes it: the calls with which
 * operation tools drive an LWK. The driver ihk uses it, and contrib/ihk-compat offers it for the
 * LWKs of lwkpart.ko.
 *
 * There is one device, number 0. Reserving takes CPUs and memory from Linux; assigning gives what
 * is reserved to an OS instance. Calls return 0, a count or a number, or a negative errno:
 *   -ENOENT  there is no such device or instance, or lwkpart.ko is not loaded
 *   -EACCES  the caller may not use the device or the instance; -EPERM: only root may do this
 *   -EFAULT  an array is NULL; -EINVAL: a count is not the exact one, or a value is not possible
 *   -EBUSY   the state of the instance does not allow it
 * Each call is done whole or not at all. Sizes of memory are in bytes, multiples of 4 MiB; memory
 * is handed on and given back in the chunks in which it was reserved.
 */
#ifndef IHKLIB_H
#define IHKLIB_H

#include <stddef.h>
#include <sys/types.h>

/* The bytes that ihk_os_kmsg() wants. */
#define IHK_KMSG_SIZE ((4 << 20) - 4096)
#define IHK_MAX_NUM_NUMA_NODES 1024
#define IHK_MAX_NUM_CPUS 1024

enum ihk_os_eventfd_type {
	IHK_OS_EVENTFD_TYPE_OOM = 0,
	IHK_OS_EVENTFD_TYPE_STATUS = 2, /* the LWK panicked or hangs */
	IHK_OS_EVENTFD_TYPE_KMSG = 101,
};

struct ihk_mem_chunk {
	unsigned long size; /* -1UL: all there is */
	int numa_node_number;
};

/* The Linux CPU 'dst_cpu' receives the interrupts of the LWK's CPU 'src_cpu'. */
struct ihk_ikc_cpu_map {
	int src_cpu, dst_cpu;
};

enum ihklib_os_status {
	IHK_STATUS_INACTIVE,
	IHK_STATUS_BOOTING,
	IHK_STATUS_RUNNING,
	IHK_STATUS_SHUTDOWN,
	IHK_STATUS_PANIC,
	IHK_STATUS_HUNGUP,
	IHK_STATUS_FREEZING,
	IHK_STATUS_FROZEN,
};

enum ihk_perf_event { PERF_EVENT_ENABLE, PERF_EVENT_DISABLE, PERF_EVENT_DESTROY };

typedef struct ihk_perf_event_attr {
	unsigned long config; /* unit mask << 8 | event */
	unsigned disabled : 1;
	unsigned pinned : 1;
	unsigned exclude_user : 1;
	unsigned exclude_kernel : 1;
	unsigned exclude_hv : 1;
	unsigned exclude_idle : 1;
} ihk_perf_event_attr;

enum IHKLIB_LOGLEVEL { IHKLIB_LOGLEVEL_EMERG = 0, IHKLIB_LOGLEVEL_ERR };

enum ihk_reserve_mem_conf_keys {
	IHK_RESERVE_MEM_BALANCED_ENABLE,
	IHK_RESERVE_MEM_BALANCED_BEST_EFFORT,
	IHK_RESERVE_MEM_BALANCED_VARIANCE_LIMIT, /* percent */
	IHK_RESERVE_MEM_MIN_CHUNK_SIZE,		 /* bytes */
	IHK_RESERVE_MEM_MAX_SIZE_RATIO_ALL,	 /* percent of the free memory for -1UL */
	IHK_RESERVE_MEM_TIMEOUT,		 /* seconds */
};

enum ihk_os_pgsize {
	IHK_OS_PGSIZE_4KB,
	IHK_OS_PGSIZE_64KB,
	IHK_OS_PGSIZE_2MB,
	IHK_OS_PGSIZE_32MB,
	IHK_OS_PGSIZE_1GB,
	IHK_OS_PGSIZE_16GB,
	IHK_OS_PGSIZE_512MB,
	IHK_OS_PGSIZE_4TB,
	IHK_MAX_NUM_PGSIZES
};

struct ihk_os_rusage {
	unsigned long memory_stat_rss[IHK_MAX_NUM_PGSIZES];
	unsigned long memory_stat_mapped_file[IHK_MAX_NUM_PGSIZES];
	unsigned long memory_max_usage;
	unsigned long memory_kmem_usage;
	unsigned long memory_kmem_max_usage;
	unsigned long memory_numa_stat[IHK_MAX_NUM_NUMA_NODES];
	unsigned long cpuacct_stat_system; /* ns, as the next three */
	unsigned long cpuacct_stat_user;
	unsigned long cpuacct_usage;
	unsigned long cpuacct_usage_percpu[IHK_MAX_NUM_CPUS];
	int num_threads;
	int max_num_threads;
};

/* ---- the device ---- */
int ihk_reserve_cpu(int index, int *cpus, int num_cpus);
int ihk_get_num_reserved_cpus(int index); /* those that no instance has */
int ihk_query_cpu(int index, int *cpus, int num_cpus);
int ihk_release_cpu(int index, int *cpus, int num_cpus);
int ihk_reserve_mem_conf(int index, int key, void *value); /* an int; for this process */
int ihk_reserve_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks);
int ihk_get_num_reserved_mem_chunks(int index);
int ihk_query_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks);
int ihk_release_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks);
int ihk_create_os(int index); /* the number of the new instance */
int ihk_get_num_os_instances(int index);
int ihk_get_os_instances(int index, int *indices, int num_os_instances);
int ihk_destroy_os(int dev_index, int os_index);

/* ---- an instance ---- */
int ihk_os_assign_cpu(int index, int *cpus, int num_cpus);
int ihk_os_get_num_assigned_cpus(int index);
int ihk_os_query_cpu(int index, int *cpus, int num_cpus);
int ihk_os_release_cpu(int index, int *cpus, int num_cpus);
int ihk_os_set_ikc_map(int index, struct ihk_ikc_cpu_map *map, int num_cpus);
int ihk_os_get_ikc_map(int index, struct ihk_ikc_cpu_map *map, int num_cpus);
int ihk_os_assign_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks);
int ihk_os_get_num_assigned_mem_chunks(int index);
int ihk_os_query_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks);
int ihk_os_release_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks);
int ihk_os_get_eventfd(int index, int type);
int ihk_os_load(int index, char *fn);
int ihk_os_kargs(int index, char *kargs); /* must have the word "hidos" */
int ihk_os_boot(int index);		  /* waits until the LWK runs, up to 10 s */
int ihk_os_shutdown(int index);
int ihk_os_get_status(int index); /* enum ihklib_os_status; -1: it cannot be read */
int ihk_os_get_kmsg_size(int index);
int ihk_os_kmsg(int index, char *kmsg, ssize_t sz_kmsg); /* the bytes read */
int ihk_os_clear_kmsg(int index);
int ihk_os_get_num_numa_nodes(int index);
int ihk_os_query_free_mem(int index, unsigned long *memfree, int num_numa_nodes);
int ihk_os_query_total_mem(int index, unsigned long *memtotal, int num_numa_nodes);
int ihk_os_get_num_pagesizes(int index);
int ihk_os_get_pagesizes(int index, long *pgsizes, int num_pgsizes);
int ihk_os_getrusage(int index, struct ihk_os_rusage *rusage, size_t size_rusage);
int ihk_os_setperfevent(int index, ihk_perf_event_attr *attr, int n); /* how many count */
int ihk_os_perfctl(int index, int comm);
int ihk_os_getperfevent(int index, unsigned long *counter, int n);
int ihk_os_freeze(unsigned long *os_set, int n); /* a bit for each instance; n bits */
int ihk_os_thaw(unsigned long *os_set, int n);
int ihk_os_makedumpfile(int index, char *dump_file, int dump_level, int interactive);
int ihk_set_loglevel(enum IHKLIB_LOGLEVEL level);

/*
 * Beyond IHK's calls: makes 'uid' the user whose programs may run on the instance, which has not
 * been booted. IHK's tools do that with chown(1) of /dev/mcosN.
 */
int ihk_os_set_owner(int index, uid_t uid);

#endif
