/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmodeswitch: switches a job's share of a node between Linux-only mode and
 * LWK mode.
 *
 * Conventions. A call that can fail returns 0, or -1 with a text in *err that
 * says what was wanted, what was found and what to do. err may not be NULL. Sizes
 * are bytes, CPU and node numbers are Linux's. A pointer that a call hands out is
 * freed with the call that its comment names; nothing else is freed by the caller.
 * No call uses a shell, and none trusts the environment.
 */
#ifndef MODESWITCH_H
#define MODESWITCH_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MS_CONFIG_PATH "/etc/slurm/lwk.conf"
#define MS_STATE_DIR "/run/slurm-lwk"
#define MS_LOG_DIR "/var/log/slurm-lwk"
#define MS_IMAGE_NAME_MAX 32

/* Why a call failed, for the person who can act on it. */
struct ms_error {
	char text[1024];
};

/* Sets the text, as printf; returns -1 so that "return ms_fail(err, …)" reads well. */
int ms_fail(struct ms_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- sizes and lists, as people write them ---- */

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

/* ---- configuration (lwk.conf) ---- */

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

/* ---- one job ---- */

/* What Slurm gave a job on this node, and what it asked of us. */
struct ms_request {
	uint32_t job_id;
	uid_t uid;
	char image[MS_IMAGE_NAME_MAX + 1]; /* "" for the default */
	hwloc_bitmap_t cpus;		   /* the allocation, Linux's numbers */
	uint64_t memory;		   /* the allocation, bytes */
	bool whole_memory;	     /* --mem=0: no number was asked for, what can be had will do */
	struct ms_amount lwk_memory; /* of that for the LWK */
	struct ms_numa numa;
	uint64_t proxy_memory; /* for its proxies, bytes; 0: as lwk.conf says */
	bool one_per_core;     /* one LWK CPU for each core, its other hardware threads idle */
};

/* ---- planning ---- */

/* What the proxies of a job may use of Linux on this node, together. */
struct ms_limits {
	bool required;	      /* without these limits there shall be no LWK job */
	hwloc_bitmap_t cpus;  /* the job's own, or the OS CPUs */
	hwloc_bitmap_t nodes; /* NUMA nodes, near these CPUs */
	uint64_t memory;      /* bytes */
	uint64_t memory_max;  /* bytes: what the user may ask for */
	unsigned pids;	      /* processes and threads */
	/*
	 * Of one CPU, for all jobs together whose proxies share the OS CPUs; 0: no limit, as they
	 * have CPUs of their own.
	 */
	unsigned cpu_percent;
	/* Against whoever else wants those: of an ordinary cgroup's weight; 0: as much. */
	unsigned weight_percent;
};

/* A CPU for the LWK; its number there is its place in ms_plan.cpus. */
struct ms_plan_cpu {
	unsigned cpu;
	unsigned node;
	unsigned doorbell_cpu; /* the CPU of Linux that gets its doorbells */
};

/* Memory to take from one NUMA node. */
struct ms_plan_memory {
	unsigned node;
	uint64_t bytes;
	bool system; /* the node is one of those kept for the system */
	bool remote; /* no CPU of the LWK is local to it */
};

/* What a switch will do. */
struct ms_plan {
	struct ms_image image;
	hwloc_bitmap_t lwk_cpus;   /* leave Linux: those of 'cpus', and 'idle_cpus' */
	hwloc_bitmap_t idle_cpus;  /* hardware threads that nobody shall use */
	hwloc_bitmap_t linux_cpus; /* the rest of the allocation */
	struct ms_plan_cpu *cpus;
	size_t n_cpus;
	/*
	 * The nodes that shall give some, the nearest first; then those in reserve, with 0 bytes, in
	 * the order in which they would be asked. With MS_NUMA_BIND no others than those.
	 */
	struct ms_plan_memory *memory;
	size_t n_memory;
	uint64_t bytes; /* of 'memory', in all */
	uint64_t least; /* with less the job is refused */
	struct ms_limits proxies;
};

/*
 * Plans a switch and touches nothing. With 'topology', the path of an hwloc XML
 * file, it plans for the idle machine described there; with NULL for this node, as
 * it is now. Free with ms_plan_free(). Removes HWLOC_* from the environment.
 */
int ms_plan_make(const struct ms_config *config, const struct ms_request *request,
		 const char *topology, struct ms_plan **out, struct ms_error *err);
void ms_plan_free(struct ms_plan *plan);

/*
 * The machine of such a plan: what the file describes, or this node as it is when nothing is
 * lent. Free with hwloc_topology_destroy(). Removes HWLOC_* from the environment.
 */
int ms_topology_load(const char *path, hwloc_topology_t *out, struct ms_error *err);

/* ---- switching ---- */

#define MS_MAX_PARTS 32

/* What the parts of a switch took, in the order in which they were done. */
struct ms_times {
	int64_t began_us; /* clock_us(); only while the switch goes on */
	uint64_t total_us;
	size_t n;
	struct ms_part {
		char name[16];
		uint64_t us;
	} parts[MS_MAX_PARTS];
};

/* "plan 12.3, cpus 230.1, ...": milliseconds. */
void ms_times_print(const struct ms_times *times, char *text, size_t size);

/* How far a job's switch got. */
enum ms_job_state {
	MS_JOB_SWITCHING, /* steps are being done, or undone */
	MS_JOB_ACTIVE,	  /* in LWK mode */
	MS_JOB_REFUSED,	  /* back in Linux-only mode; 'reason' says why */
	MS_JOB_STUCK,	  /* could not be undone; 'reason' says what is left */
	MS_JOB_WARM,	  /* over, and what it had is kept for the next LWK job */
	MS_JOB_QUIET,	  /* Linux-only, with --quiet-irqs; 'reason': why it cannot be */
};

/* The published record of a job on this node. */
struct ms_job {
	uint32_t job_id;
	uid_t uid;
	enum ms_job_state state;
	char image[MS_IMAGE_NAME_MAX + 1];
	char driver[16];
	char reason[1024];	   /* REFUSED, STUCK, QUIET; ACTIVE: what became of a dump */
	int instance;		   /* ACTIVE; -1 otherwise */
	char device[64];	   /* ACTIVE: the instance's device node, "/dev/lwk/N" */
	hwloc_bitmap_t lwk_cpus;   /* lent to the LWK */
	hwloc_bitmap_t linux_cpus; /* of the allocation, kept by Linux */
	hwloc_bitmap_t nodes;	   /* NUMA nodes of the memory lent */
	uint64_t memory;	   /* bytes lent */
	unsigned runs;		   /* physically contiguous runs of it */
	uint64_t largest_run;	   /* bytes */
	uint64_t vacated;	   /* bytes that other programs had there, moved away */
	unsigned switch_on_ms;	   /* ACTIVE: what the switch took */
	struct ms_times times;	   /* ACTIVE: the same, by its parts */
	unsigned keep_warm;	   /* ACTIVE, WARM: seconds, from the end of the job on */
	struct ms_limits proxies;  /* ACTIVE */
	/* ACTIVE: interrupts of devices per second, from boot on, of a CPU that is the LWK's now. */
	struct ms_irq_spread {
		double min, max, mean;
	} irqs_before;
	int64_t since; /* realtime seconds at which 'state' was reached */
};

/* "switching", "active", "refused", "stuck", "warm" */
const char *ms_job_state_word(enum ms_job_state state);

/* As it is published: lwkctl(8) documents the members. json_object_put() it. */
struct json_object *ms_job_to_json(const struct ms_job *job);

/*
 * Switches the job's share of this node to LWK mode: plan, steps, record. Root.
 * Returns 0 when ms_job_get() now tells MS_JOB_ACTIVE, or MS_JOB_REFUSED: then
 * everything taken has been given back and the reason is for the user. Returns -1
 * only when the node itself is no longer sound (MS_JOB_STUCK).
 */
int ms_switch_on(const struct ms_config *config, const struct ms_request *request,
		 struct ms_error *err);

/*
 * Records that this job cannot have LWK mode, and why, without touching anything.
 * For what fails before a request can be made (no configuration, say).
 */
int ms_switch_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err);

/*
 * Switches the job's share back by its journal, newest step first, and forgets
 * the job. 0 also when this node knows no such job. -1: some of it is still lent;
 * the record is MS_JOB_STUCK, and a later call tries again. 'times' tells what it took; it
 * may be NULL, and has no parts when there was nothing to do.
 */
int ms_switch_off(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/*
 * The same for a job that has just ended, but with KeepWarm= its CPUs and memory stay lent that
 * long for another LWK job that wants just these; any other job's ms_switch_on() or ms_cool() gives
 * them back, and so does the end of that time.
 */
int ms_job_ended(uint32_t job_id, struct ms_times *times, struct ms_error *err);

/* Seconds for which a partition is still kept warm; 0: they are over; -1: there is none. */
int64_t ms_warm_left(void);

/*
 * Reads one job's record. 1: found, free what it holds with ms_job_release(); 0:
 * this node knows no such job; -1: error. Anybody may ask.
 */
int ms_job_get(uint32_t job_id, struct ms_job *job, struct ms_error *err);
void ms_job_release(struct ms_job *job);

/* All jobs this node knows, by job id. Free with ms_job_list_free(). */
int ms_job_list(struct ms_job **jobs, size_t *n, struct ms_error *err);
void ms_job_list_free(struct ms_job *jobs, size_t n);

/*
 * Switches off every job of this node for which 'alive' says false: what a crash
 * left behind. A job that is alive is not touched.
 */
int ms_reconcile(bool (*alive)(uint32_t job_id, void *context), void *context,
		 struct ms_error *err);

/* ---- interrupts ---- */

/* What Linux counts as one interrupt. */
struct ms_irq {
	char name[16];	  /* "43"; or "LOC", of the kernel's own */
	char label[64];	  /* of the devices; or what it is for */
	bool device;	  /* a device's */
	uint64_t *counts; /* since boot, by place in ms_irqs.cpus */
};

struct ms_irqs {
	int64_t when_us; /* of a clock that only goes forward */
	unsigned *cpus;	 /* that are on-line */
	size_t n_cpus;
	struct ms_irq *irqs;
	size_t n_irqs;
};

/* Free what it holds with ms_irqs_release(). Anybody may ask. */
int ms_irqs_read(struct ms_irqs *irqs, struct ms_error *err);
void ms_irqs_release(struct ms_irqs *irqs);

/* The sum of a CPU's, of devices or of the others; 0 for a CPU that is not on-line. */
uint64_t ms_irqs_of_cpu(const struct ms_irqs *irqs, unsigned cpu, bool devices);

/* ---- quiet for Linux-only jobs ---- */

#define MS_QUIET_INTERVAL 10.0 /* seconds between two looks at interrupts */

/*
 * Keeps device interrupts away from a Linux-only job's CPUs as long as it runs, and starts a
 * process that sees to it. Its record is MS_JOB_QUIET. ms_switch_off() or ms_job_ended() end it:
 * then every interrupt has the CPUs that it had, unless somebody else has given it others. Root.
 */
int ms_quiet_begin(const struct ms_config *config, uint32_t job_id, uid_t uid,
		   hwloc_const_bitmap_t cpus, struct ms_error *err);

/* Records that such a job cannot have it, and why. */
int ms_quiet_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err);

/* Starts the process that sees to it, should there be such jobs and no such process. Root. */
int ms_quiet_resume(struct ms_error *err);

/* That process: returns when there are no such jobs any more, or at once when it is there already. */
int ms_quiet_watch(double interval, struct ms_error *err);

/* ---- the limits of proxies ---- */

/*
 * With cgroup version 2: limits the tasks of a step, of which 'pid' is one, by the cgroups that
 * Slurm made for them, before they begin. A batch script ('is_step' is false) has the job's limits
 * only, those of CPU time and processes. With version 1 there is nothing to do here. Root.
 */
int ms_limits_step(const struct ms_job *job, pid_t pid, bool is_step, struct ms_error *err);

/* How many proxies have been killed because they were over their limit of memory; 'pid' as above. */
uint64_t ms_limits_kills(const struct ms_job *job, pid_t pid);

/* A job has ended: what jobs share on the OS CPUs is for those that are left. Root. */
void ms_limits_share(void);

/*
 * ---- watching an instance (LWK batch operation paper, table 1) ----
 *
 * What is read is memory that the LWK writes in any case: it is never interrupted, and it
 * can write nonsense there, so every value is bounded and every text printable. The owner
 * of a job may watch it, and root.
 */

enum ms_instance_state {
	MS_INSTANCE_INACTIVE, /* not booted */
	MS_INSTANCE_BOOTING,
	MS_INSTANCE_RUNNING,
	MS_INSTANCE_SHUTTING_DOWN,
	MS_INSTANCE_PANIC,
	MS_INSTANCE_HUNG,
	MS_INSTANCE_FREEZING,
	MS_INSTANCE_FROZEN,
	MS_INSTANCE_STATES
};

struct ms_instance_info {
	uint32_t job_id;
	uid_t uid;
	enum ms_instance_state state;
	int64_t since_ns;  /* realtime at which it was reached */
	char message[128]; /* PANIC, HUNG: why */
	unsigned cpus;
	unsigned processes; /* that exist now */
	uint64_t memory;    /* bytes of the partition */
};

/* What a CPU does. */
enum ms_cpu_doing {
	MS_CPU_OFF,
	MS_CPU_IDLE, /* or it waits for its program's next signal, or for a proxy */
	MS_CPU_USER,
	MS_CPU_SYSTEM,
	MS_CPU_DELEGATING, /* waits for Linux to do a call */
	MS_CPU_FROZEN,
	MS_CPU_STOPPED, /* by a panic */
	MS_CPU_DOINGS
};

enum ms_interrupt {
	MS_INTERRUPT_DOORBELL,
	MS_INTERRUPT_LINUX,
	MS_INTERRUPT_SPURIOUS,
	MS_INTERRUPT_TIMER,
	MS_INTERRUPTS
};

/* What delegated calls are about. */
enum ms_call_kind {
	MS_CALLS_TRANSFER,
	MS_CALLS_FILES,
	MS_CALLS_NETWORK,
	MS_CALLS_WAIT,
	MS_CALLS_PROCESS,
	MS_CALLS_TIME,
	MS_CALLS_MEMORY,
	MS_CALL_KINDS
};

/* Since the instance booted. */
struct ms_counts {
	uint64_t user_ns, system_ns, delegating_ns, idle_ns;
	uint64_t interrupts[MS_INTERRUPTS];
	uint64_t disturbances; /* interrupts while a program computed */
	uint64_t local_calls;  /* system calls that the LWK did itself */
	uint64_t delegated_calls[MS_CALL_KINDS];
	uint64_t faults;
	uint64_t processes;	/* started */
	uint64_t out_of_memory; /* … and killed for want of memory */
};

struct ms_cpu_usage {
	unsigned cpu, node; /* Linux's numbers */
	enum ms_cpu_doing doing;
	bool has_process;
	bool torn; /* its times or memory could not be read, and are 0 */
	struct ms_counts counts;
};

struct ms_node_usage {
	unsigned node;
	uint64_t bytes_4k, bytes_2m; /* used now, by size of page */
	uint64_t peak;		     /* most that was used */
	uint64_t peak_4k, peak_2m;   /* … by size of page; not at the same time, perhaps */
};

/* The hardware performance counters of each CPU. */
struct ms_pmu {
	unsigned version; /* of the architectural ones (CPUID leaf 0xa); 0: there are none */
	unsigned counters, fixed, bits;
	uint32_t missing; /* bit i: the CPUs do not have architectural event i */
};

struct ms_usage {
	int64_t when_ns; /* realtime */
	struct ms_cpu_usage *cpus;
	size_t n_cpus;
	struct ms_node_usage *nodes; /* those with memory in use, or that once was */
	size_t n_nodes;
	struct ms_counts total;
	struct ms_pmu pmu;
	unsigned threads;			   /* now */
	uint64_t memory, memory_used, memory_peak; /* for programs */
	uint64_t kernel_memory, kernel_used, kernel_peak;
};

enum ms_event {
	MS_EVENT_STATE,
	MS_EVENT_PANIC,
	MS_EVENT_HANG,
	MS_EVENT_OUT_OF_MEMORY,
	MS_EVENT_CONSOLE, /* half of the console's room is text that nobody has read */
	MS_EVENT_EXIT,	  /* a process ended */
	MS_EVENTS
};

/* Words for people and for JSON: "shutting down", "delegating", "doorbell", … */
const char *ms_instance_state_word(enum ms_instance_state state);
const char *ms_cpu_doing_word(enum ms_cpu_doing doing);
const char *ms_interrupt_word(enum ms_interrupt interrupt);
const char *ms_call_kind_word(enum ms_call_kind kind);
const char *ms_event_word(enum ms_event event);

struct ms_watch;

/*
 * Opens the instance of a job that is in LWK mode. It can be asked as long as it is open;
 * when the job has ended it says MS_INSTANCE_SHUTTING_DOWN. Close with ms_watch_close().
 */
int ms_watch_open(uint32_t job_id, struct ms_watch **out, struct ms_error *err);
void ms_watch_close(struct ms_watch *watch);

int ms_watch_info(struct ms_watch *watch, struct ms_instance_info *info, struct ms_error *err);
/* 1: read, free what it holds with ms_usage_release(); 0: the instance has ended; -1: error. */
int ms_watch_usage(struct ms_watch *watch, struct ms_usage *usage, struct ms_error *err);
void ms_usage_release(struct ms_usage *usage);
/* As lwkctl(8) documents it. json_object_put() it. */
struct json_object *ms_usage_to_json(const struct ms_usage *usage);

/*
 * Console text from *position on (0: all that is still there), which moves on. The number of
 * bytes, 0 when there is no more, -1 on error. Not NUL terminated.
 */
ssize_t ms_watch_console(struct ms_watch *watch, uint64_t *position, char *text, size_t size,
			 struct ms_error *err);

/*
 * A new eventfd(2), non-blocking, that counts the events of this kind from now on. The caller
 * closes it; it tells nothing any more once the watch is closed.
 */
int ms_watch_eventfd(struct ms_watch *watch, enum ms_event event, struct ms_error *err);

/*
 * Makes the programs of the instance stand still while its CPUs halt, or go on; returns when
 * it is so. -1 also when a CPU does not halt within timeout_ms; then all go on.
 */
int ms_watch_freeze(struct ms_watch *watch, bool frozen, unsigned timeout_ms, struct ms_error *err);

/*
 * ---- counters on an instance's CPUs (paper, table 1: ihk_setperfevent, ihk_perfctl,
 * ihk_getperfevent) ----
 *
 * Every CPU has all of them. They are the instance's: whoever sets others takes away those there were.
 * Setting, starting, stopping and removing interrupt the CPUs once; reading does not.
 */
#define MS_MAX_COUNTERS 16
#define MS_COUNTER_NAME_SIZE 24

/* Counts of events, not scaled, since the counters were set and while they ran. */
struct ms_cpu_counters {
	unsigned cpu; /* Linux's number */
	bool torn;    /* they could not be read, and are 0 */
	uint64_t values[MS_MAX_COUNTERS];
};

struct ms_counters {
	bool running;
	size_t n;
	char names[MS_MAX_COUNTERS][MS_COUNTER_NAME_SIZE];
	struct ms_cpu_counters *cpus;
	size_t n_cpus;
};

/*
 * Registers counters for these events instead of those there were; they begin at 0 and stand
 * still. lwkctl(8) has the names of events. -1, and all as before: an unknown event, more than there
 * are counters for, or hardware counters where there are none.
 */
int ms_counters_set(struct ms_watch *watch, const char *const *events, size_t n,
		    struct ms_error *err);
/* Go on from the values they have; stand still. -1 also when there are none. */
int ms_counters_start(struct ms_watch *watch, struct ms_error *err);
int ms_counters_stop(struct ms_watch *watch, struct ms_error *err);
int ms_counters_remove(struct ms_watch *watch, struct ms_error *err);
/*
 * Of running ones each CPU's values are those of when it last left the LWK's kernel. Free what
 * it holds with ms_counters_release().
 */
int ms_counters_read(struct ms_watch *watch, struct ms_counters *counters, struct ms_error *err);
void ms_counters_release(struct ms_counters *counters);
/* As lwkctl(8) documents it. json_object_put() it. */
struct json_object *ms_counters_to_json(const struct ms_counters *counters);

/* ---- moving memory between NUMA nodes, with or without an LWK ---- */

/* In which order pages are moved: lwkctl(8) tells what each is good for. */
enum ms_migrate_method { MS_PERIODICAL, MS_SEVERE, MS_MILD, MS_ADAPTIVE, MS_MIGRATE_METHODS };

/* Why memory is still where it was. */
enum ms_migrate_left {
	MS_LEFT_PINNED,	      /* in use by a device or by the kernel, time and again */
	MS_LEFT_SHARED,	      /* with others; only root moves such pages */
	MS_LEFT_INACCESSIBLE, /* mapped without any access (PROT_NONE) */
	MS_LEFT_HUGETLB,      /* no free huge page where it should go */
	MS_LEFT_FULL,	      /* no free memory where it should go */
	MS_LEFT_SPECIAL,      /* of a mapping that the kernel does not move */
	MS_LEFT_RETURNED,     /* was moved, and something moved or made it anew back there */
	MS_LEFT_DENIED,	      /* another user's process */
	MS_LEFT_NOT_TRIED,    /* stopped before */
	MS_LEFT_REASONS
};

/* Kinds of pages; a page can be of several. */
enum ms_migrate_kind {
	MS_KIND_HUGE,	 /* transparent huge pages, moved whole */
	MS_KIND_HUGETLB, /* of hugetlbfs */
	MS_KIND_FILE,	 /* of files and shared memory */
	MS_KIND_SHARED,	 /* mapped by several processes */
	MS_KIND_KSM,
	MS_KIND_MLOCKED,
	MS_KINDS
};

/* How far a migration is, or how it ended. Memory in bytes. */
struct ms_migrate_state {
	const char *source; /* of what is known about use: "accessed", "soft-dirty", "none" */
	unsigned processes;
	unsigned rounds; /* of n pages */
	unsigned scans;	 /* of all pages */
	uint64_t found;	 /* on the nodes to be left, from the start or later */
	uint64_t moved;
	uint64_t gone; /* freed meanwhile */
	uint64_t left[MS_LEFT_REASONS];
	uint64_t kinds[MS_KINDS]; /* of what was moved */
	uint64_t hot_found;	  /* known to have been in use lately */
	uint64_t hot_moved;
	double seconds;
	double cpu_seconds;	 /* of the caller's thread, user and system */
	double scan_cpu_seconds; /* part of it: to learn which pages there are, and used */
	bool complete;		 /* all that can move has moved */
	bool stopped;		 /* because stop() said so */
	char notes[2048];	 /* what else is to be known; one a line */
};

struct ms_migrate_request {
	/* Whose memory: one of these; the others are 0 or NULL. */
	pid_t pid;	    /* a process and its descendants */
	uint32_t job_id;    /* a job of Slurm on this node */
	const char *cgroup; /* the processes in a cgroup, a directory, and below it */

	hwloc_const_bitmap_t from, to; /* NUMA nodes */
	enum ms_migrate_method method;
	unsigned pages;	    /* n: so many pages of 4 KB, then a sleep; 0: chosen here */
	int sleep_ms;	    /* t: that sleep; -1: chosen here */
	double cpu_percent; /* of one CPU, at most; 0: no limit */
	uint64_t bandwidth; /* bytes per second, at most; 0: no limit */
	bool dry_run;	    /* find the pages, but change nothing */

	/* Asked at least every 100 ms; true ends the work. May be NULL. */
	bool (*stop)(void *context);
	/* Hears how far it is, several times a second. May be NULL. */
	void (*hear)(const struct ms_migrate_state *state, void *context);
	void *context;
};

#define MS_MIGRATE_MIN_PAGES 64U /* smaller rounds cost more than they spare */
#define MS_MIGRATE_MAX_SLEEP_MS 3600000

/*
 * Moves pages of running processes between NUMA nodes: n pages, a sleep of t ms, and so
 * on, within the limits, the order by 'method' (Urushida and Hirotsu, Improvement of
 * Memory Migration in Docker container scheduling on NUMA systems). No page is moved
 * twice. cpusets that hold nothing but these processes are changed so that new pages
 * come from 'to'. A user may move memory of own processes; root of all.
 * 0 with *state told; -1 also with *state, of how far it came: then the cpusets are as
 * they were, and every page is whole on one node or the other.
 */
int ms_migrate(const struct ms_migrate_request *request, struct ms_migrate_state *state,
	       struct ms_error *err);

/* "periodical", "severe", "mild", "adaptive" */
const char *ms_migrate_method_word(enum ms_migrate_method method);
/* "pinned", … */
const char *ms_migrate_left_word(enum ms_migrate_left left);
/* "huge", … */
const char *ms_migrate_kind_word(enum ms_migrate_kind kind);
/* As lwkctl(8) documents it. json_object_put() it. */
struct json_object *ms_migrate_state_to_json(const struct ms_migrate_state *state);

/* ---- for the administrator; root ---- */

/* Hears one line of text, without a newline. */
typedef void (*ms_say)(const char *line, void *context);

/*
 * Switches the job off, or all jobs with MS_ALL_JOBS, running or not, and then also gives back
 * what is lent and no job's: whatever state a crash left. Says each thing it does.
 */
#define MS_ALL_JOBS UINT32_MAX
int ms_reset(uint32_t job_id, ms_say say, void *context, struct ms_error *err);

/*
 * Gives back what is kept warm (KeepWarm=); 'over': only if its time is over. Quick when there is
 * nothing. Whoever starts a job that is no LWK job calls it first.
 */
int ms_cool(bool over, ms_say say, void *context, struct ms_error *err);

/*
 * Brings pages of Linux jobs home to the NUMA nodes that LWK jobs had taken and have given back,
 * within RehomeRate= and RehomeCpu=, or forgets them with Rehome=no; then ends. It stands back
 * while a switch is going on. -1: some are still away, and will be tried again. Root.
 */
int ms_rehome(const struct ms_config *config, ms_say say, void *context, struct ms_error *err);
/* Starts `lwkctl rehome` if there are any; for slurmd's start. */
void ms_rehome_resume(void);

#define MS_NO_INSTANCE (-1)

/* A CPU or a range of memory that is lent. */
struct ms_lent {
	bool is_cpu;
	bool is_blocks; /* memory: whole blocks that Linux has off-line */
	int instance;	/* who has it, or MS_NO_INSTANCE */
	unsigned cpu;
	unsigned node;
	uint64_t start; /* physical address */
	uint64_t bytes;
};

/* All that is lent, CPUs first; nothing when lwkpart.ko is not loaded. Free with free(). */
int ms_ledger(struct ms_lent **lent, size_t *n, struct ms_error *err);

/* What a NUMA node has lent, and could lend. Bytes. */
struct ms_numa_info {
	unsigned node;
	bool system; /* kept for the system: LWKs get its memory last */
	hwloc_bitmap_t lent_cpus, free_cpus;
	uint64_t total;	       /* with what is lent */
	uint64_t lent;	       /* to LWKs, or kept warm for one */
	uint64_t largest_lent; /* largest contiguous run of it */
	/*
	 * What is free or could be moved away now, in pages of 4 KB, and the part of it that is
	 * whole large pages, of 2 MB and of 1 GB, and the largest contiguous run of the first.
	 */
	uint64_t free_4k, free_2m, free_1g;
	uint64_t largest_free;
};

/* What this node of the cluster has lent and could lend (paper, table 1: ihk_getihkinfo). */
struct ms_node_info {
	unsigned instances;
	hwloc_bitmap_t lent_cpus;
	hwloc_bitmap_t free_cpus; /* on-line, and not OsCpus=; jobs without an LWK may use them */
	uint64_t lent;
	uint64_t spare; /* Linux gives no more of all 'free_4k' than that, or it would be short */
	struct ms_numa_info *numa; /* by number */
	size_t n_numa;
};

/*
 * Looks at each page of the node, so it takes seconds on a large one. What could be lent is an
 * estimate: from one moment to the next Linux uses, frees and pins memory. Root. Free what it
 * holds with ms_node_info_release().
 */
int ms_node_info(const struct ms_config *config, struct ms_node_info *info, struct ms_error *err);
void ms_node_info_release(struct ms_node_info *info);

/* The console text of an instance; free with free(). */
int ms_kmsg(unsigned instance, char **text, struct ms_error *err);

/*
 * Writes the memory of a job's LWK's kernel to a new file, as an ELF core file; the LWK goes on
 * meanwhile. Readable for root only, as is what it is made from. Leaves no part of a dump behind
 * after a failure. Root.
 */
int ms_dump(uint32_t job_id, const char *path, struct ms_error *err);

/*
 * If the job's LWK has panicked or hangs, keeps the dump that DumpOnPanic= asks for. 1: *told says
 * what became of it, now or when it was tried before; 0: there is nothing to tell. The end of the
 * job does the same, but then nobody reads the job's output any more. Root.
 */
int ms_dump_if_failed(uint32_t job_id, struct ms_error *told);

/* What ms_prepare() is to do. */
enum ms_prepare_mode {
	MS_PREPARE_DRY_RUN, /* tell what would be done */
	MS_PREPARE,
	MS_PREPARE_UNDO,
};

/*
 * Separates the NUMA nodes for jobs from those for the system (SystemNodes=): puts the memory
 * blocks of job nodes into ZONE_MOVABLE, where the kernel never has pages of its own, and keeps
 * interrupts and services on the OS CPUs and system nodes. Or undoes exactly what earlier calls
 * have changed; 'config' may be NULL then. Root; fails while anything is lent.
 *
 * *report: what was got, what was not, and why; lwkctl(8) documents the members.
 * json_object_put() it. 1: done, but not all job nodes are (--undo: not all was) as they should
 * be; the report says why.
 */
int ms_prepare(const struct ms_config *config, enum ms_prepare_mode mode,
	       struct json_object **report, struct ms_error *err);

/* One finding of ms_check(). */
struct ms_finding {
	enum { MS_FINE, MS_NOTE, MS_PROBLEM } level;
	const char *subject; /* a stable name, "module" */
	const char *text;    /* what was found */
	const char *to_do;   /* what to do about it; NULL with MS_FINE */
};

/*
 * Looks for whatever would break LWK jobs on this node and changes nothing.
 * Returns the number of problems.
 */
int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context);

#endif
