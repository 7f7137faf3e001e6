/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching an instance (LWK batch operation paper, table 1).
 *
 * The library reads memory that the LWK writes in any case: it never interrupts the LWK.
 * The LWK can write nonsense there, so the library bounds every value and makes every text
 * printable. The owner of a job may watch it, and root.
 */
#ifndef MODESWITCH_WATCH_H
#define MODESWITCH_WATCH_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <modeswitch/error.h>

struct json_object;

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

#endif
