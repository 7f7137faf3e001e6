/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Statistics of an LWK CPU, which Linux reads without disturbing the CPU. */
#ifndef ABI_SHARED_STATISTICS_H
#define ABI_SHARED_STATISTICS_H

#include <linux/types.h>

#include "abi/shared/counters.h"
#include "abi/shared/layout.h"

/* The activity of a slot, or of an LWK CPU in a copy (LWK_GET_USAGE). */
enum lwk_cpu_state {
	LWK_CPU_OFF = 0,
	LWK_CPU_IDLE,	    /* no process, halted */
	LWK_CPU_LOADING,    /* has a process that has not started, or no thread of it */
	LWK_CPU_USER,	    /* running its process, and short system calls of it */
	LWK_CPU_SYSTEM,	    /* working in the LWK for it: page faults, calls about memory */
	LWK_CPU_DELEGATING, /* waiting for a delegated call */
	LWK_CPU_WAITING,    /* its process waits for a signal, or another thread */
	LWK_CPU_EXITED,	    /* its process has ended, the proxy has not */
	LWK_CPU_FROZEN,	    /* halted until Linux thaws it */
	LWK_CPU_STOPPED,    /* after a panic */
	LWK_CPU_STATES
};

enum lwk_interrupt {
	LWK_INTERRUPT_DOORBELL, /* from Linux, or another CPU of this LWK */
	LWK_INTERRUPT_LINUX,	/* a vector of Linux's: left over, or a broadcast */
	LWK_INTERRUPT_SPURIOUS, /* the local APIC's own */
	LWK_INTERRUPT_TIMER,	/* the end of a wait with a time limit, or of a turn */
	LWK_INTERRUPTS
};

/* The subject of a delegated call. */
enum lwk_call_kind {
	LWK_CALLS_TRANSFER, /* read, write and their like, on any descriptor */
	LWK_CALLS_FILES,    /* names, attributes, descriptors */
	LWK_CALLS_NETWORK,  /* sockets; their read and write are TRANSFER */
	LWK_CALLS_WAIT,	    /* poll, select, sleep, waiting for children */
	LWK_CALLS_PROCESS,  /* identity, limits, signals to others */
	LWK_CALLS_TIME,	    /* timers */
	LWK_CALLS_MEMORY,   /* pages taken back from the proxy, copies of files */
	LWK_CALL_KINDS
};

/*
 * There is a struct lwk_cpu_status for each slot. An LWK CPU writes those of its slots and nothing
 * else, with plain stores: no lock, no cache line that two LWK CPUs share, and none that a reader
 * writes. Only the group 'memory' is written, one at a time, by all CPUs that run threads of one
 * process. A CPU counts for the slot that it runs just then; lwkpart.ko hands out the sums, by CPU.
 *
 * A field that stands alone is one aligned word and cannot be torn. Fields that belong
 * together are a group that begins with 'seq', which is odd while the CPU changes the group. A
 * reader copies the group between two looks at an even and equal 'seq', and gives up after some
 * tries: an LWK may leave it odd for ever.
 *
 * Time is in TSC cycles and needs no tick: tsc[state] is the time spent in each state until the
 * slot left it last, and since since_tsc the slot is in 'state'. While the CPU runs another slot,
 * time stands still for this one: since_tsc is LWK_TIME_STANDS.
 *
 * A slot keeps its counts when it moves to another CPU. The sums of a CPU go on all the same: the
 * CPU's own slot adds these counts when the slot leaves, and subtracts them when the slot comes.
 */
#define LWK_TIME_STANDS (~0ULL)
struct lwk_cpu_times {
	__u32 seq;
	__u32 state; /* enum lwk_cpu_state */
	__u64 since_tsc;
	__u64 tsc[LWK_CPU_STATES];
	__u64 reserved[4];
} LWK_LINE_ALIGNED;

/*
 * Memory of one NUMA node that is taken and not given back. Only the sum of all slots means
 * something: a page that processes share may be given back by another one than has taken it.
 */
struct lwk_node_pages {
	__u64 pages_4k;
	__u64 pages_2m;
	/* The most that all slots had of the node, as this slot saw when it took some. */
	__u64 peak_bytes;
	__u64 peak_4k; /* the most in pages of each size, perhaps at different times */
	__u64 peak_2m;
	__u64 reserved;
};

/* Node numbers are Linux's; memory of higher nodes is counted with the last. */
#define LWK_STATUS_NODES 16

struct lwk_cpu_memory {
	__u32 seq;
	__u32 reserved32;
	/*
	 * The next three fields count for the process whose first thread the slot runs, with its
	 * other threads. The peak stays after the process has ended.
	 */
	__u64 pages_4k;
	__u64 pages_2m;
	__u64 peak_bytes;
	__u64 kernel_bytes;	 /* taken from the reserve */
	__u64 user_peak_bytes;	 /* the most that all slots had, as peak_bytes of a node */
	__u64 kernel_peak_bytes; /* the most that all slots had of the reserve */
	__u64 reserved;
	struct lwk_node_pages node[LWK_STATUS_NODES];
} LWK_LINE_ALIGNED;

/*
 * A CPU brings its counters up to date when it leaves the LWK's kernel, and when it is told to stop
 * them. A hardware counter that it does not have stays 0.
 */
struct lwk_cpu_counters {
	__u32 seq;
	__u32 order; /* of struct lwk_counting: which counters these are */
	__u64 values[LWK_MAX_COUNTERS];
} LWK_LINE_ALIGNED;

struct lwk_cpu_status {
	struct lwk_cpu_times times;
	/*
	 * Odd: the CPU is in the LWK's kernel, with interrupts off. Even: it is in its process, or
	 * halted, and answers a doorbell. A heartbeat that is odd and the same for long means that
	 * the CPU hangs; long work in the kernel adds 2 now and then.
	 */
	__u64 heartbeat LWK_LINE_ALIGNED;
	__u64 local_calls;   /* system calls that the LWK did itself */
	__u64 faults;	     /* page faults of its processes */
	__u64 processes;     /* that started so far */
	__u64 out_of_memory; /* processes killed because the partition had no memory left */
	__u64 disturbances;  /* interrupts that came while its process computed */
	__u32 home; /* the index of the slot's CPU, plus 1; 0: none, not with a CPU's own slot */
	__u32 nmis; /* CPU's own slot: NMIs that the CPU has answered */
	__u32 linux_cpu;  /* Linux's number of this CPU, filled in by lwkpart.ko in a copy */
	__u32 linux_node; /* its NUMA node, likewise */
	__u64 interrupts[8] LWK_LINE_ALIGNED; /* enum lwk_interrupt */
	__u64 delegated_calls[8];	      /* enum lwk_call_kind */
	/* Bit i: the thread may use the CPU with the index i (sched_setaffinity(2)); all 0: any. */
	__u64 allowed[LWK_MAX_CPUS / 64];
	struct lwk_cpu_memory memory;
	struct lwk_cpu_counters counters;
} LWK_LINE_ALIGNED;

#endif
