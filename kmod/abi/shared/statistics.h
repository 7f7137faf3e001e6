/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Statistics of an LWK CPU, which Linux reads without disturbing it. */
#ifndef ABI_SHARED_STATISTICS_H
#define ABI_SHARED_STATISTICS_H

#include <linux/types.h>

#include "abi/shared/counters.h"
#include "abi/shared/layout.h"

/* What an LWK CPU is doing. */
enum lwk_cpu_state {
	LWK_CPU_OFF = 0,
	LWK_CPU_IDLE,	    /* no process, halted */
	LWK_CPU_LOADING,    /* has a process that has not started, or no thread of it */
	LWK_CPU_USER,	    /* running its process; short calls of it too, see below */
	LWK_CPU_SYSTEM,	    /* at work in the LWK for it: page faults, calls about memory */
	LWK_CPU_DELEGATING, /* waiting for a delegated call */
	LWK_CPU_WAITING,    /* its process waits for a signal, or another thread */
	LWK_CPU_EXITED,	    /* its process has ended, the proxy has not */
	LWK_CPU_FROZEN,	    /* halted until Linux thaws it */
	LWK_CPU_STOPPED,    /* after a panic */
	LWK_CPU_STATES
};

enum lwk_interrupt {
	LWK_INTERRUPT_DOORBELL, /* from Linux, or another CPU of this LWK */
	LWK_INTERRUPT_LINUX,	/* a vector of Linux's: left over, or its broadcast */
	LWK_INTERRUPT_SPURIOUS, /* the local APIC's own */
	LWK_INTERRUPT_TIMER,	/* the end of a wait with a time limit */
	LWK_INTERRUPTS
};

/* What delegated calls are about. */
enum lwk_call_kind {
	LWK_CALLS_TRANSFER, /* read, write and their like, of files and whatever else */
	LWK_CALLS_FILES,    /* names, attributes, descriptors */
	LWK_CALLS_NETWORK,  /* sockets; their read and write are TRANSFER */
	LWK_CALLS_WAIT,	    /* poll, select, sleep, waiting for children */
	LWK_CALLS_PROCESS,  /* identity, limits, signals to others */
	LWK_CALLS_TIME,	    /* timers */
	LWK_CALLS_MEMORY,   /* pages taken back from the proxy, copies of files */
	LWK_CALL_KINDS
};

/*
 * Statistics. Each LWK CPU writes the struct lwk_cpu_status of its slots and nothing else, with
 * plain stores: no lock, no line that two LWK CPUs share, and none that a reader writes. But the
 * group 'memory' is written, one at a time, by all CPUs that run threads of one process. What a CPU
 * counts belongs to the slot that it runs just then; lwkpart.ko hands out their sums, by CPU.
 *
 * A field that stands alone is one aligned word and cannot be torn. Fields that belong
 * together are a group that begins with 'seq': odd while the CPU changes it. A reader
 * copies the group between two looks at an even and equal 'seq', and gives up after some
 * tries: an LWK may leave it odd for ever.
 *
 * Time is TSC cycles, and no tick is needed for it: tsc[state] is what the CPU has spent in
 * the states it has left, and it is in 'state' since since_tsc. While the CPU runs another slot, time
 * stands still for this one: since_tsc is LWK_TIME_STANDS.
 */
#define LWK_TIME_STANDS (~0ULL)
struct lwk_cpu_times {
	__u32 seq;
	__u32 state; /* enum lwk_cpu_state */
	__u64 since_tsc;
	__u64 tsc[LWK_CPU_STATES];
	__u64 reserved[4];
} LWK_LINE_ALIGNED;

/* Memory of one NUMA node that a CPU has taken and not given back. */
struct lwk_node_pages {
	__u64 pages_4k;
	__u64 pages_2m;
	/* Most that was taken of the node by all CPUs, as this CPU saw when it took some. */
	__u64 peak_bytes;
	__u64 peak_4k; /* … in pages of that size; the two may have been at different times */
	__u64 peak_2m;
	__u64 reserved;
};

/* Nodes are Linux's; what is on higher ones is counted with the last. */
#define LWK_STATUS_NODES 16

struct lwk_cpu_memory {
	__u32 seq;
	__u32 reserved32;
	/*
	 * Of the process whose first thread it runs; what its other threads take is counted
	 * there too, not at their CPUs. The peak also of its last one.
	 */
	__u64 pages_4k;
	__u64 pages_2m;
	__u64 peak_bytes;
	__u64 kernel_bytes;	 /* of the reserve that it has taken */
	__u64 user_peak_bytes;	 /* most that all CPUs had, as peak_bytes of a node */
	__u64 kernel_peak_bytes; /* … of the reserve */
	__u64 reserved;
	struct lwk_node_pages node[LWK_STATUS_NODES];
} LWK_LINE_ALIGNED;

/*
 * A CPU brings them up to date when it leaves the LWK's kernel, and when it is told to stop
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
	 * Odd: in the LWK's kernel, with interrupts off. Even: in its process, or halted,
	 * and a doorbell is answered. Who finds it odd and the same for long has found a
	 * CPU that hangs; long work in the kernel adds 2 now and then.
	 */
	__u64 heartbeat LWK_LINE_ALIGNED;
	__u64 local_calls;   /* system calls that the LWK did itself */
	__u64 faults;	     /* page faults of its processes */
	__u64 processes;     /* started so far */
	__u64 out_of_memory; /* … and killed because the partition had no memory left */
	__u64 disturbances;  /* interrupts that came while its process computed */
	__u64 page_root;     /* physical address of the process's page tables, or 0 */
	__u32 linux_cpu;     /* Linux's number of this CPU and its NUMA node: */
	__u32 linux_node;    /* lwkpart.ko fills them in where it hands out a copy */
	__u64 interrupts[8] LWK_LINE_ALIGNED; /* enum lwk_interrupt */
	__u64 delegated_calls[8];	      /* enum lwk_call_kind */
	struct lwk_cpu_memory memory;
	struct lwk_cpu_counters counters;
} LWK_LINE_ALIGNED;

#endif
