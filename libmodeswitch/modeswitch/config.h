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

#define MS_IMAGE_NAME_MAX 32

/* Reads a size into *bytes: "64M", "1G", "512K", "1T" or "0". A number needs its unit. */
int ms_parse_size(const char *text, uint64_t *bytes, struct ms_error *err);

/*
 * Reads a list of CPUs or NUMA nodes in Linux's format, "0-3,8", into 'cpus', which the caller has
 * allocated. "" gives the empty set.
 */
int ms_parse_cpus(const char *text, hwloc_bitmap_t cpus, struct ms_error *err);

/*
 * The part of a job's memory that its LWK gets: a percentage or a size. When both are 0, the LWK
 * gets all that Linux does not keep.
 */
struct ms_amount {
	unsigned percent; /* of the allocation, 1 to 100 */
	uint64_t bytes;
};

/* Reads an amount: "all", "75%", or a size as for ms_parse_size() that is not 0. */
int ms_parse_amount(const char *text, struct ms_amount *amount, struct ms_error *err);

/* The NUMA nodes that give an LWK its memory; see lwk.conf(5). */
enum ms_numa_policy {
	MS_NUMA_SITE,	    /* the policy of lwk.conf; only a request has this value */
	MS_NUMA_LOCAL,	    /* the nodes of its CPUs, in proportion to the CPUs */
	MS_NUMA_INTERLEAVE, /* all nodes that jobs may use, evenly */
	MS_NUMA_BIND,	    /* the nodes that are named, and no others */
};

struct ms_numa {
	enum ms_numa_policy policy;
	hwloc_bitmap_t nodes; /* MS_NUMA_BIND; NULL otherwise */
};

/* Reads a limit of the proxies' memory: a size as for ms_parse_size(), at least 8 MB. */
int ms_parse_proxy_memory(const char *text, uint64_t *bytes, struct ms_error *err);

/*
 * Reads a policy: "local", "interleave" or "bind=0,2-3". ms_numa_release() frees what *numa holds;
 * on failure it holds nothing.
 */
int ms_parse_numa(const char *text, struct ms_numa *numa, struct ms_error *err);
void ms_numa_release(struct ms_numa *numa);

/* An LWK image: a kernel that the site offers. */
struct ms_image {
	char name[MS_IMAGE_NAME_MAX + 1];
	char driver[16];     /* kind of LWK, "lwkpart" */
	char path[4096];     /* absolute */
	char args[256];	     /* its kernel command line */
	char library[4096];  /* Library=: absolute path of what its driver needs, or "" */
	char launcher[4096]; /* Launcher=: absolute path of what starts programs, or "": lwkexec */
	bool is_default;
};

/* The site's configuration; each member names its key of lwk.conf. */
struct ms_config {
	unsigned linux_cpus;	     /* LinuxCpus=: assistant CPUs of each job */
	uint64_t linux_memory;	     /* LinuxMemory=: bytes of a job's memory that Linux keeps */
	hwloc_bitmap_t os_cpus;	     /* OsCpus=: the OS cores, never lent; always with CPU 0 */
	hwloc_bitmap_t system_nodes; /* SystemNodes=; NULL: auto */
	uint64_t vacate_rate;	     /* VacateRate=: bytes per second; 0: no limit */
	unsigned vacate_cpu;	     /* VacateCpu=: percent of one CPU */
	bool rehome;		     /* Rehome= */
	uint64_t rehome_rate;	     /* RehomeRate=, RehomeCpu=: as for vacating */
	unsigned rehome_cpu;
	struct ms_numa numa;	    /* Numa=; never MS_NUMA_SITE */
	unsigned boot_timeout_ms;   /* BootTimeout=, given in seconds */
	unsigned hang_timeout_ms;   /* HangTimeout=: how long a CPU may give no sign of life */
	unsigned switch_timeout_ms; /* SwitchTimeout=: of the whole switch */
	unsigned keep_warm;	    /* KeepWarm=: seconds; 0: not at all */
	bool kernel_calls;	    /* KernelCalls= */
	char dump_on_panic[256];    /* DumpOnPanic=: the directory of dumps; "": none */
	/* The proxies' limits; see struct ms_limits. */
	bool proxy_limits_required;   /* ProxyLimits=require */
	uint64_t proxy_memory;	      /* ProxyMemory=: bytes for each job on a node */
	uint64_t proxy_memory_per_gb; /* ProxyMemoryPerGB=: more bytes for each GB of its LWK */
	uint64_t proxy_memory_max;    /* ProxyMemoryMax=: the most bytes that a user may ask for */
	unsigned proxy_cpu;	      /* ProxyCpu=: percent of the OS cores that jobs share */
	unsigned proxy_weight;	      /* ProxyWeight=: percent of an ordinary cgroup's */
	unsigned proxy_pids;	      /* ProxyPids=: processes and threads */
	bool accept_vulnerabilities;  /* Vulnerabilities=accept */
	struct ms_image *images;
	size_t n_images;
};

/*
 * Reads a configuration file; when 'path' is NULL, lwk.conf in the directory slurm of configure's
 * --sysconfdir. An unknown key, a bad value, no image or two defaults are errors that name file and
 * line. The file must belong to root, and only root may be able to write it. The caller frees *out
 * with ms_config_free().
 */
int ms_config_load(const char *path, struct ms_config **out, struct ms_error *err);
void ms_config_free(struct ms_config *config);

/* Returns true if 'name' has the form of an image name: [A-Za-z0-9][A-Za-z0-9._-]{0,31}. */
bool ms_image_name_valid(const char *name);

/*
 * Returns the image of that name, or the default image for NULL or ""; NULL with an error that
 * lists the names of all images. The result belongs to 'config' and lives as long.
 */
const struct ms_image *ms_config_image(const struct ms_config *config, const char *name,
				       struct ms_error *err);

#endif
