/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes and lists as people write them, and the site's configuration, lwk.conf(5).
 */
#ifndef MODESWITCH_CONFIG_H
#define MODESWITCH_CONFIG_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <modeswitch/error.h>

#define MS_CONFIG_PATH "/etc/slurm/lwk.conf"
#define MS_IMAGE_NAME_MAX 32

/* "64M", "1G", "512K", "1T", or "0". A number without its unit is an error. */
int ms_parse_size(const char *text, uint64_t *bytes, struct ms_error *err);

/* "0-3,8": Linux's list format, nothing looser. "" gives the empty set. */
int ms_parse_cpus(const char *text, hwloc_bitmap_t cpus, struct ms_error *err);

/* How much of a job's memory its LWK gets; all that Linux does not keep when both are 0. */
struct ms_amount {
	unsigned percent; /* of the allocation, 1 to 100 */
	uint64_t bytes;
};

/* "all", "75%", or a size as for ms_parse_size() that is not 0. */
int ms_parse_amount(const char *text, struct ms_amount *amount, struct ms_error *err);

/* From which NUMA nodes an LWK's memory comes; see lwk.conf(5). */
enum ms_numa_policy {
	MS_NUMA_SITE,	    /* as lwk.conf says; in a request only */
	MS_NUMA_LOCAL,	    /* the nodes of its CPUs, in proportion to the CPUs */
	MS_NUMA_INTERLEAVE, /* all nodes that jobs may use, evenly */
	MS_NUMA_BIND,	    /* the nodes that are named, and no others */
};

struct ms_numa {
	enum ms_numa_policy policy;
	hwloc_bitmap_t nodes; /* MS_NUMA_BIND; NULL otherwise */
};

/* A limit of the proxies' memory: a size as for ms_parse_size(), of 8 MB at least. */
int ms_parse_proxy_memory(const char *text, uint64_t *bytes, struct ms_error *err);

/* "local", "interleave" or "bind=0,2-3". Free what it holds with ms_numa_release(). */
int ms_parse_numa(const char *text, struct ms_numa *numa, struct ms_error *err);
void ms_numa_release(struct ms_numa *numa);

/* A kernel that the site offers. */
struct ms_image {
	char name[MS_IMAGE_NAME_MAX + 1];
	char driver[16]; /* name of a struct ms_driver */
	char path[4096]; /* absolute */
	char args[256];	 /* its kernel command line */
	bool is_default;
};

struct ms_config {
	unsigned linux_cpus;	     /* LinuxCpus=: CPUs of a job that stay with Linux */
	uint64_t linux_memory;	     /* LinuxMemory=: bytes of a job's memory that stay */
	hwloc_bitmap_t os_cpus;	     /* OsCpus=: never lent; CPU 0 is always among them */
	hwloc_bitmap_t system_nodes; /* SystemNodes=; NULL: by default */
	uint64_t vacate_rate;	     /* VacateRate=: bytes per second; 0: no limit */
	unsigned vacate_cpu;	     /* VacateCpu=: percent of one CPU */
	bool rehome;		     /* Rehome= */
	uint64_t rehome_rate;	     /* RehomeRate=, RehomeCpu=: as for vacating */
	unsigned rehome_cpu;
	struct ms_numa numa;	    /* Numa=; never MS_NUMA_SITE */
	unsigned boot_timeout_ms;   /* BootTimeout=, given in seconds */
	unsigned hang_timeout_ms;   /* HangTimeout=: a CPU without a sign of life */
	unsigned switch_timeout_ms; /* SwitchTimeout=: for the whole switch */
	unsigned keep_warm;	    /* KeepWarm=: seconds; 0: not at all */
	bool kernel_calls;	    /* KernelCalls= */
	char dump_on_panic[256];    /* DumpOnPanic=: a directory; "": no dumps are kept */
	/* The proxies' limits; see struct ms_limits. */
	bool proxy_limits_required;   /* ProxyLimits=require */
	uint64_t proxy_memory;	      /* ProxyMemory=: bytes for each job on a node, … */
	uint64_t proxy_memory_per_gb; /* ProxyMemoryPerGB=: … and for each GB of its LWK */
	uint64_t proxy_memory_max;    /* ProxyMemoryMax=: what a user may ask for */
	unsigned proxy_cpu;	      /* ProxyCpu=: percent of the OS CPUs that jobs share */
	unsigned proxy_weight;	      /* ProxyWeight=: percent of an ordinary cgroup's */
	unsigned proxy_pids;	      /* ProxyPids=: processes and threads */
	struct ms_image *images;
	size_t n_images;
};

/*
 * Reads a configuration. An unknown key, a bad value, no image or two defaults
 * are errors that name file and line. The file must belong to root and be
 * writable by nobody else. Free with ms_config_free().
 */
int ms_config_load(const char *path, struct ms_config **out, struct ms_error *err);
void ms_config_free(struct ms_config *config);

/* True when 'name' has the form of an image name: [A-Za-z0-9][A-Za-z0-9._-]{0,31}. */
bool ms_image_name_valid(const char *name);

/*
 * The image of that name, or the default one for NULL or "". The error lists the
 * names there are. The result lives as long as 'config'.
 */
const struct ms_image *ms_config_image(const struct ms_config *config, const char *name,
				       struct ms_error *err);

#endif
