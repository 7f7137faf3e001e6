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

/* Stands for a number that this kind of LWK does not tell. */
#define MS_UNKNOWN (~0U)

struct ms_instance_info {
	uint32_t job_id;
	uid_t uid;
	enum ms_instance_state state;
	int64_t since_ns;  /* CLOCK_REALTIME at which 'state' was reached; 0: unknown */
	char message[128]; /* PANIC, HUNG: the reason */
	unsigned cpus;
	unsigned processes; /* processes that exist now, or MS_UNKNOWN */
	uint64_t memory;    /* bytes of the partition */
};

/* The activity of an LWK's CPU. */
enum ms_cpu_doing {
	MS_CPU_OFF,
	MS_CPU_IDLE, /* has no program, or its program waits for a signal or a proxy */
	MS_CPU_USER,
	MS_CPU_SYSTEM,
	MS_CPU_DELEGATING, /* its program waits for a delegated call */
	MS_CPU_FROZEN,
	MS_CPU_STOPPED, /* a panic stopped it */
	MS_CPU_DOINGS
};

enum ms_interrupt {
	MS_INTERRUPT_DOORBELL,
	MS_INTERRUPT_LINUX,
	MS_INTERRUPT_SPURIOUS,
	MS_INTERRUPT_TIMER,
	MS_INTERRUPTS
};

/* Kinds of delegated calls. */
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

/* Sums since the instance booted. */
struct ms_counts {
	uint64_t user_ns, system_ns, delegating_ns, idle_ns;
	uint64_t interrupts[MS_INTERRUPTS];
	uint64_t disturbances; /* interrupts while a program computed */
	uint64_t local_calls;  /* system calls that the LWK handled itself */
	uint64_t delegated_calls[MS_CALL_KINDS];
	uint64_t faults;
	uint64_t processes;	/* processes started */
	uint64_t out_of_memory; /* processes killed for want of memory */
};

struct ms_cpu_usage {
	unsigned cpu, node; /* Linux's numbers */
	enum ms_cpu_doing doing;
	bool has_process;
	bool torn; /* its times and memory could not be read and are 0 */
	struct ms_counts counts;
};

struct ms_node_usage {
	unsigned node;
	uint64_t bytes_4k, bytes_2m; /* bytes in use now, by size of page */
	uint64_t peak;		     /* the most bytes ever in use */
	uint64_t peak_4k, peak_2m;   /* 'peak' of each size of page, maybe at other times */
};

/* The hardware performance counters of each CPU. */
struct ms_pmu {
	unsigned version; /* of architectural counters (CPUID leaf 0xa); 0: there are none */
	unsigned counters, fixed; /* how many general and fixed ones a CPU has */
	unsigned bits;		  /* the width of the general ones */
	uint32_t missing;	  /* bit i: the CPUs lack architectural event i */
};

struct ms_usage {
	int64_t when_ns; /* CLOCK_REALTIME of the reading */
	struct ms_cpu_usage *cpus;
	size_t n_cpus;
	struct ms_node_usage *nodes; /* nodes whose memory is or was in use */
	size_t n_nodes;
	struct ms_counts total;
	struct ms_pmu pmu;
	unsigned threads;				  /* that exist now */
	uint64_t memory, memory_used, memory_peak;	  /* bytes for programs */
	uint64_t kernel_memory, kernel_used, kernel_peak; /* bytes for the LWK's kernel */
};

enum ms_event {
	MS_EVENT_STATE,
	MS_EVENT_PANIC,
	MS_EVENT_HANG,
	MS_EVENT_OUT_OF_MEMORY,
	MS_EVENT_CONSOLE, /* unread text fills half of the console */
	MS_EVENT_EXIT,	  /* a process ended */
	MS_EVENTS
};

/*
 * The next five calls return the words for people and for JSON: "shutting down", "delegating",
 * "doorbell".
 */
const char *ms_instance_state_word(enum ms_instance_state state);
const char *ms_cpu_doing_word(enum ms_cpu_doing doing);
const char *ms_interrupt_word(enum ms_interrupt interrupt);
const char *ms_call_kind_word(enum ms_call_kind kind);
const char *ms_event_word(enum ms_event event);

struct ms_watch;

/*
 * Opens the instance of a job that is in LWK mode. It can be read until ms_watch_close(); after the
 * end of the job its state is MS_INSTANCE_SHUTTING_DOWN.
 */
int ms_watch_open(uint32_t job_id, struct ms_watch **out, struct ms_error *err);
void ms_watch_close(struct ms_watch *watch);

/* Reads the instance's state, also when it has ended. */
int ms_watch_info(struct ms_watch *watch, struct ms_instance_info *info, struct ms_error *err);
/*
 * Reads the usage of all CPUs and nodes. Returns 1 with *usage, whose contents ms_usage_release()
 * frees; 0 when the instance has ended; -1 on error.
 */
int ms_watch_usage(struct ms_watch *watch, struct ms_usage *usage, struct ms_error *err);
void ms_usage_release(struct ms_usage *usage);
/*
 * Returns the JSON that lwkctl(8) documents, to be freed with json_object_put(); NULL: no memory.
 */
struct json_object *ms_usage_to_json(const struct ms_usage *usage);

/*
 * Copies console text from *position on (0: from the oldest text that is still there), at most
 * 'size' bytes without a NUL, and moves *position behind it. Returns the number of bytes, 0 when
 * there is no more, or -1.
 */
ssize_t ms_watch_console(struct ms_watch *watch, uint64_t *position, char *text, size_t size,
			 struct ms_error *err);

/*
 * Returns a new, non-blocking eventfd(2) that counts the events of this kind from now on, until the
 * watch is closed; or -1. The caller closes it.
 */
int ms_watch_eventfd(struct ms_watch *watch, enum ms_event event, struct ms_error *err);

/*
 * Freezes the instance, so that its programs stand still and its CPUs halt, or lets it go on;
 * returns when that is so. If a CPU does not halt within timeout_ms milliseconds, all go on and the
 * call fails.
 */
int ms_watch_freeze(struct ms_watch *watch, bool frozen, unsigned timeout_ms, struct ms_error *err);

/* Reads the console text of an instance. The caller frees *text with free(). Root. */
int ms_kmsg(unsigned instance, char **text, struct ms_error *err);

/*
 * Waits until the job's LWK fails, and ends its programs then, where the LWK's kernel module does not do
 * so; the calling thread goes to the job's Linux CPUs for that. 1: done; 0: the job has ended, or the module
 * does it. Root.
 */
int ms_guard(uint32_t job_id, struct ms_error *err);

/*
 * Writes the memory of the kernel of a job's LWK to a new ELF core file, which only root can read,
 * while the LWK goes on (McKernel does not). Leaves no file behind after a failure. Root.
 */
int ms_dump(uint32_t job_id, const char *path, struct ms_error *err);

/*
 * If the job's LWK has panicked or hangs, keeps the dump that DumpOnPanic= asks for. Returns 1 with
 * the result in *told, also that of an earlier call; 0 when there is nothing to tell. The end of
 * the job does the same, too late for the job's output. Root.
 */
int ms_dump_if_failed(uint32_t job_id, struct ms_error *told);

#endif
