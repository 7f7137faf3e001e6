/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * What Linux and an LWK agree on: how an LWK is entered, and the layout of the
 * memory they share. Used by lwkpart.ko, by the LWK and by its proxy.
 *
 * Entry (x86-64). Every assigned CPU jumps to the image's ELF entry point with
 *   CR3  page tables made by lwkpart.ko (4 or 5 levels as CR4.LA57 says), mapping
 *        - the image's segments at their link addresses, with their permissions,
 *        - all memory of the partition at LWK_DIRECT_MAP + physical address,
 *          writable, not executable,
 *        - the local APIC's page at LWK_LAPIC_VADDR, uncached,
 *        - the lwkpart.ko page that the CPU comes from, read-only and executable;
 *   RSP  a stack of LWK_BOOT_STACK bytes,
 *   RDI  the address of struct lwk_boot_params in the direct map,
 *   RSI  the CPU's index, 0…n_cpus-1,
 *   interrupts off, NMIs still blocked (until the first iretq), CR4.PGE, PCIDE
 *   and CET clear, the IDT and GDT Linux's and no longer to be used.
 *
 * The image is a statically linked ELF64 file (ET_EXEC). Its PT_LOAD segments begin at
 * page boundaries, share no page, and none is both writable and executable.
 *
 * The partition's memory: [reserve_start, reserve_start + reserve_size), at the
 * start of mem[0], belongs to the LWK kernel: lwkpart.ko puts the image, the
 * shared areas, the first page tables and the stacks into its first reserve_used bytes.
 * All else is for processes, and only that can ever be seen through a proxy's
 * WINDOW: the LWK must keep its own data, page tables included, in the reserve.
 * Of memory that is not the partition's a process may have what lwkpart.ko has granted it
 * (struct lwk_grant), and nothing else.
 * Behind reserve_used the memory holds what its users before left there, another job
 * perhaps: the LWK clears each page before a process, or it itself, uses it.
 */
#ifndef LWKSHARED_H
#define LWKSHARED_H

#include <linux/types.h>

#define LWK_SHARED_MAGIC 0x314b574c /* "LWK1" */
#define LWK_SHARED_VERSION 9

#define LWK_MAX_CPUS 256
/*
 * A thread has a slot: its place in every array that says "per slot" below. Slot s is on the CPU with the
 * index s % n_cpus, which runs the threads of its slots one at a time; each CPU has as many slots.
 */
#define LWK_SLOTS_PER_CPU 16
#define LWK_MAX_SLOTS 1024
#define LWK_MAX_MEM 1024
#define LWK_BOOT_STACK 16384

#define LWK_DIRECT_MAP 0xffff900000000000UL
#define LWK_LAPIC_VADDR 0xfffffffe00000000UL
/* Where an image may be linked: 512 MB from here. */
#define LWK_IMAGE_BASE 0xffffffff80000000UL
#define LWK_IMAGE_LIMIT 0xffffffffa0000000UL

/*
 * Addresses an LWK process may use. A proxy maps the same range, so it ends
 * below where Linux puts a position-independent executable and its libraries.
 */
#define LWK_USER_START 0x10000UL
#define LWK_USER_END 0x500000000000UL
/* Behind them, in every process and its to read only: struct lwk_clock, and code that reads it. */
#define LWK_CLOCK_VADDR LWK_USER_END
#define LWK_VDSO_VADDR (LWK_USER_END + 4096)
#define LWK_VDSO_BYTES 4096

/* Linux → LWK doorbell, a fixed interrupt. */
#define LWK_DOORBELL_VECTOR 0xf0

#define LWK_CACHE_LINE 64
#define LWK_LINE_ALIGNED __attribute__((aligned(LWK_CACHE_LINE)))

struct lwk_boot_cpu {
	__u32 linux_cpu;
	__u32 apicid;
	__u32 node; /* NUMA node */
	/* Where this CPU's doorbells to Linux go; Linux may change both. */
	__u32 doorbell_apicid;
	__u32 doorbell_vector;
	__u32 reserved[3];
};

struct lwk_boot_mem {
	__u64 start; /* physical */
	__u64 size;
	__u32 node;
	__u32 reserved;
};

/*
 * Counters, the same on every CPU. A hardware counter's 'select' is the lower part of IA32_PERFEVTSELx
 * (Intel SDM volume 3, 20.2.1.1): event, unit mask, and when to count.
 */
enum lwk_counter_kind {
	LWK_COUNTER_SOFTWARE = 0, /* number: enum lwk_count */
	LWK_COUNTER_GENERAL,	  /* number: x of IA32_PMCx */
	LWK_COUNTER_FIXED,	  /* number: x of IA32_FIXED_CTRx; 'select' only tells when */
	LWK_COUNTER_KINDS
};

/* Of what a CPU counts in any case (struct lwk_cpu_status). */
enum lwk_count {
	LWK_COUNT_FAULTS,
	LWK_COUNT_INTERRUPTS,
	LWK_COUNT_DISTURBANCES,
	LWK_COUNT_LOCAL_CALLS,
	LWK_COUNT_DELEGATED_CALLS,
	LWK_COUNT_PROCESSES,
	LWK_COUNTS
};

#define LWK_SELECT_EVENT 0xffffU
#define LWK_SELECT_USER (1U << 16)   /* while programs run */
#define LWK_SELECT_SYSTEM (1U << 17) /* while the LWK itself does */
#define LWK_SELECT_ALL (LWK_SELECT_EVENT | LWK_SELECT_USER | LWK_SELECT_SYSTEM)

struct lwk_counter {
	__u32 kind; /* enum lwk_counter_kind */
	__u32 number;
	__u32 select; /* hardware counters: LWK_SELECT_* */
	__u32 reserved;
};

/*
 * What to count. Linux writes it, with 'order' odd meanwhile, and then rings every CPU's doorbell;
 * a CPU that has seen to it says so with 'order' in its struct lwk_cpu_counters.
 */
#define LWK_MAX_COUNTERS 16
struct lwk_counting {
	__u32 order;   /* another one each time, and even */
	__u32 set;     /* another one: these are new counters, and begin at 0 */
	__u32 running; /* 0: they stand still */
	__u32 count;
	struct lwk_counter counters[LWK_MAX_COUNTERS];
};

/*
 * The clock, alone in a page. At TSC value tsc_base CLOCK_MONOTONIC is monotonic_ns, and mult / 2^32
 * nanoseconds pass in a cycle; offset_ns is what other clocks are ahead. What one value of seq
 * says begins where the one before ended, or later, so CLOCK_MONOTONIC never goes back. seq is
 * odd while Linux writes.
 */
enum lwk_clock_kind {
	LWK_CLOCK_MONOTONIC, /* always 0 */
	LWK_CLOCK_REALTIME,
	LWK_CLOCK_BOOTTIME,
	LWK_CLOCK_TAI,
	LWK_CLOCK_KINDS
};
struct lwk_clock {
	__u32 seq;
	__u32 reserved;
	__u64 tsc_base;
	__u64 mult;
	__s64 monotonic_ns;
	__s64 offset_ns[LWK_CLOCK_KINDS];
};

/* Written by Linux before boot; doorbells, want_registers and counting also later. */
struct lwk_boot_params {
	__u32 magic;   /* LWK_SHARED_MAGIC */
	__u32 version; /* LWK_SHARED_VERSION */
	__u32 n_cpus;
	__u32 n_mem;
	__u32 x2apic; /* 1: the local APICs are in x2APIC mode */
	__u32 job_id;
	__u64 reserve_start; /* physical */
	__u64 reserve_size;
	__u64 reserve_used;
	__u64 status;	/* physical address of struct lwk_status */
	__u64 console;	/* physical address of struct lwk_console */
	__u64 channels; /* physical address of struct lwk_channel[n_slots] */
	__u64 controls; /* physical address of struct lwk_control[n_slots] */
	__u64 grants;	/* physical address of struct lwk_grant[n_slots] */
	__u64 clock;	/* physical address of struct lwk_clock */
	__u32 tsc_khz;	/* about */
	char linux_release[65];
	char nodename[65];
	char domainname[65];
	char cmdline[257];
	/* Not 0: a CPU that gets an NMI writes its registers to lwk_status.registers. */
	__u32 want_registers;
	__u32 n_slots; /* a multiple of n_cpus */
	__u32 reserved[3];
	struct lwk_counting counting;
	struct lwk_boot_cpu cpus[LWK_MAX_CPUS];
	struct lwk_boot_mem mem[LWK_MAX_MEM]; /* largest first */
};

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

/* What a CPU was at when the LWK panicked, or hung, for a dump (LWKPART_DUMP). */
struct lwk_registers {
	__u64 known; /* 0: all else means nothing */
	__u64 r15, r14, r13, r12, rbp, rbx;
	__u64 r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	__u64 rip, cs, rflags, rsp, ss;
	__u64 fs_base, gs_base;
	__u64 cr2, cr3;
	__u64 reserved[7];
};

/* Written by the LWK, read by Linux, which must not trust a word of it. */
struct lwk_status {
	__u32 magic; /* LWK_SHARED_MAGIC */
	__u32 state; /* BOOTING, RUNNING, PANIC of enum lwk_state */
	__u32 cpus_up;
	__u32 panic_cpu;    /* index, with PANIC */
	char message[128];  /* with PANIC; NUL terminated, or not */
	char version[64];   /* what uname -v in the LWK says */
	__u64 boot_tsc;	    /* cycles from the first CPU's entry to RUNNING */
	__u64 user_bytes;   /* memory for processes, in all */
	__u64 kernel_bytes; /* the reserve, in all */
	__u64 kernel_used;  /* … taken for ever while it booted */
	/* Bytes at the start of the reserve; the LWK has never used what is behind them. */
	__u64 kernel_end;
	__u64 registers; /* physical address of struct lwk_registers[n_cpus] in there, or 0 */
	/* Architectural performance monitoring (Intel SDM volume 3, 20.2), as CPUID leaf 0xa has it. */
	__u32 pmu_version; /* 0: the CPUs have none, and the others are 0 */
	__u32 pmu_counters;
	__u32 pmu_bits; /* of a counter */
	__u32 pmu_fixed;
	__s64 panic_ns;	   /* realtime of a panic, by the LWK's clock */
	__u32 pmu_missing; /* bit i: the CPUs do not have architectural event i (SDM, table 20-1) */
	__u32 n_slots;	   /* elements of cpu */
	__u64 kernel_node; /* NUMA node of the reserve */
	__u64 reserved[3];
	struct lwk_cpu_status
		cpu[LWK_MAX_SLOTS]; /* n_slots are there; in a copy (LWK_GET_USAGE), n_cpus */
};

/* Bytes of a status area with so many elements of 'cpu'. */
#define LWK_STATUS_BYTES(n)                                                                        \
	(sizeof(struct lwk_status) -                                                               \
	 (LWK_MAX_SLOTS - (unsigned long)(n)) * sizeof(struct lwk_cpu_status))

#define LWK_CONSOLE_BYTES (64 * 1024 - LWK_CACHE_LINE)
/* Byte p of the console's text is text[p % LWK_CONSOLE_BYTES], for p < head. */
struct lwk_console {
	__u64 head;
	__u64 reserved[7];
	char text[LWK_CONSOLE_BYTES];
};

/*
 * The channel between an LWK process and its proxy: one page per slot with two
 * rings, each with one writer and one reader. head and tail count packets and
 * wrap at 2^32; the packet of count c is in slot c % LWK_RING_SLOTS. Each side
 * keeps its own count private, copies a packet before it looks into it, and
 * treats a count that is impossible as the end of the connection.
 *
 * Three kinds of packet (inter-OS delegation paper, section 3): a REQUEST wants a
 * REPLY with the same id; a NOTICE wants none.
 */
enum lwk_packet_kind {
	LWK_PACKET_REQUEST = 1,
	LWK_PACKET_REPLY = 2,
	LWK_PACKET_NOTICE = 3,
};

struct lwk_packet {
	__u16 kind;
	__u16 reserved;
	__u32 id;
	/* REQUEST, NOTICE: a system call number, or one of the LWK_CALL_* */
	__u64 nr;
	/* arguments of a REQUEST or NOTICE; args[0] of a REPLY is the result */
	__u64 args[6];
} LWK_LINE_ALIGNED;

/*
 * Numbers beyond any system call. LWK → proxy:
 *   EXIT    notice; args: wait status as wait(2) has it, 1 when out of memory
 *   UNMAP   request; args: start, size. The proxy calls LWK_UNMAP.
 *   SIGNAL_ACTION  notice; args: signal, 0 default, 1 ignore, 2 handler, 3 ignore, but
 *           pass it on: it may be blocked
 *   THREAD  request: one more slot for a thread. The proxy makes a thread of its own that gets
 *           it (LWK_THREAD_CREATE) and serves its channel. 0; -EAGAIN: no slot is free; …
 *   FORK    request; args: the asking slot, number of its offer, 1 for vfork(2). The proxy
 *           makes a child, which makes an LWK process and sends it COPY. The child's pid; -EAGAIN…
 *   FORK_WAIT  request, after a FORK for vfork(2): replied to when the child has another program,
 *           or has ended
 *   EXEC    request; args: as execveat(2), then the signals that are blocked. The proxy starts
 *           itself anew (LWK_PROC_AGAIN). Replied to only with an error.
 *   SIGNAL  request; args: a struct lwk_signal, for the thread of this process that it names. To the
 *           asking thread itself: it stays with Linux until EXEC. As rt_tgsigqueueinfo(2)
 *   SIGNALS_TAKEN  notice: there is room again for signals, which the proxy has 'held'
 *   SHARE   request; args: start, size, prot, flags, fd, offset, as of mmap(2): the proxy maps the
 *           file just there; with LWK_SHARE_SEGMENT in flags, fd is a segment of shmget(2). 0; 1: the
 *           pages of this file cannot be shared, and nothing is mapped; or a negative error
 *   SEGMENT request; args: number of a segment. Its size, or a negative error
 *   DETACH  request; args: address. The size of the segment that was attached there, or -EINVAL
 *   FILE    request; args: fd. A number for the file behind it, for AREA; 0: it has none
 *   AREA    request, one for each mapping, after a reply LWK_RESULT_AREAS; args: start, end, prot,
 *           LWK_AREA_*, number of the file that was mapped there or 0, offset in that
 *   GRANT   request: the proxy calls LWK_GRANT
 *   UNSHARE request; args: start, size. The proxy calls LWK_GRANT, and maps its WINDOW there
 *   RESHARE request; args: start, size, prot. The proxy calls LWK_GRANT, then mprotect(2)
 * proxy → LWK, each a request that the LWK replies to:
 *   MAP     args: start, size, prot, now: anonymous zeroed memory at just there;
 *           'now' 1: and all of it at once
 *   PROTECT args: start, size, prot: as mprotect(2)
 *   BRK     args: start of the heap
 *   NAME    args: start, size, number of a file (FILE), offset: which has been loaded there
 *   START   args: entry point, stack pointer, signals that are blocked, signals that are
 *           ignored (bit s-1: signal s), user. Replies, then runs the process.
 *   COPY    args: slot and number of a FORK: makes this process, which must be empty, a copy of
 *           that one. Replies, then runs it. -ENOMEM; -EINVAL: nobody offers that (any more).
 */
#define LWK_CALL_BASE 0x10000UL
#define LWK_CALL_EXIT (LWK_CALL_BASE + 0)
#define LWK_CALL_UNMAP (LWK_CALL_BASE + 1)
#define LWK_CALL_SIGNAL_ACTION (LWK_CALL_BASE + 2)
#define LWK_CALL_THREAD (LWK_CALL_BASE + 3)
#define LWK_CALL_FORK (LWK_CALL_BASE + 4)
#define LWK_CALL_FORK_WAIT (LWK_CALL_BASE + 5)
#define LWK_CALL_EXEC (LWK_CALL_BASE + 6)
#define LWK_CALL_SIGNAL (LWK_CALL_BASE + 7)
#define LWK_CALL_SIGNALS_TAKEN (LWK_CALL_BASE + 14)
#define LWK_CALL_SHARE (LWK_CALL_BASE + 16)
#define LWK_CALL_GRANT (LWK_CALL_BASE + 17)
#define LWK_CALL_UNSHARE (LWK_CALL_BASE + 18)
#define LWK_CALL_RESHARE (LWK_CALL_BASE + 19)
#define LWK_CALL_SEGMENT (LWK_CALL_BASE + 20)
#define LWK_CALL_DETACH (LWK_CALL_BASE + 21)
#define LWK_CALL_FILE (LWK_CALL_BASE + 22)
#define LWK_CALL_AREA (LWK_CALL_BASE + 23)
#define LWK_SHARE_SEGMENT (1UL << 32)
#define LWK_AREA_SHARED 1
#define LWK_AREA_HEAP 2
/* Of open(2): the proxy wants to be told all AREAs, and then asked once more. No errno. */
#define LWK_RESULT_AREAS (-0x10000L)
#define LWK_CALL_MAP (LWK_CALL_BASE + 8)
#define LWK_CALL_BRK (LWK_CALL_BASE + 9)
#define LWK_CALL_START (LWK_CALL_BASE + 10)
#define LWK_CALL_PROTECT (LWK_CALL_BASE + 11)
#define LWK_CALL_COPY (LWK_CALL_BASE + 12)
#define LWK_CALL_NAME (LWK_CALL_BASE + 13)

#define LWK_RING_SLOTS 16

struct lwk_ring {
	__u32 head LWK_LINE_ALIGNED; /* packets written, by the writer */
	__u32 tail LWK_LINE_ALIGNED; /* packets read, by the reader */
	struct lwk_packet slot[LWK_RING_SLOTS];
};

/*
 * How lwkpart.ko asks the LWK, on behalf of a proxy that touched its WINDOW where
 * no page is yet, to make one: it writes addr and write, then state ASKED; the LWK
 * answers with READY or REFUSED. In the entry of a page that it maps in the WINDOW
 * lwkpart.ko sets LWK_PTE_SEEN_BY_LINUX, so that the LWK knows for which pages it
 * must send UNMAP before it uses them for something else.
 */
#define LWK_PTE_SEEN_BY_LINUX (1UL << 9)
enum lwk_fault_state {
	LWK_FAULT_IDLE = 0,
	LWK_FAULT_ASKED,
	LWK_FAULT_READY,
	LWK_FAULT_REFUSED,
};

/* What lwkpart.ko wants of a slot; only it writes this. */
enum lwk_order {
	LWK_ORDER_NONE = 0, /* no process: be idle */
	LWK_ORDER_PROCESS,  /* have a process and serve its channel */
	LWK_ORDER_THREAD,   /* have a thread of the process of slot 'leader', when it wants one */
};

/*
 * A signal: what Linux keeps of a siginfo_t, which is less than what programs see of it. 'thread' is in
 * a gap of that: 1 for this thread, 0 for any of the process; with LWK_CALL_SIGNAL its number.
 */
struct lwk_signal {
	__s32 signal;
	__s32 error;
	__s32 code;
	__u32 thread;
	__u64 field[4];
};

/*
 * Signals that the proxy passes on, a ring as those of packets. When one has filled it, the proxy blocks
 * all signals, so that Linux keeps them, and leaves word in 'held' before it moves 'head'. The LWK says
 * when there is room again (SIGNALS_TAKEN).
 */
#define LWK_SIGNAL_SLOTS 32
struct lwk_signals {
	__u32 head LWK_LINE_ALIGNED; /* signals passed on, by the proxy */
	__u32 tail;		     /* signals taken, by the LWK */
	__u32 held;		     /* 1: the proxy waits for room */
	__u32 reserved[13];
	struct lwk_signal slot[LWK_SIGNAL_SLOTS];
};

struct lwk_channel {
	struct lwk_ring to_linux;
	struct lwk_ring to_lwk;

	/* Written by the LWK: 1 when its CPU has halted and only a doorbell makes it look. */
	__u32 lwk_sleeps LWK_LINE_ALIGNED;
	/* Written by Linux: 1 when only a doorbell makes the proxy look. */
	__u32 linux_sleeps LWK_LINE_ALIGNED;
	struct lwk_signals signals;
} __attribute__((aligned(4096)));

/*
 * The part of a connection that a proxy cannot reach, an array of one line per
 * slot: written by lwkpart.ko (order, freeze, pid, leader, fault_addr, fault_write, fault_state
 * ASKED) and the LWK (obeyed, fault_state READY and REFUSED).
 */
struct lwk_control {
	__u32 order;	   /* enum lwk_order */
	__u32 obeyed;	   /* the order that the slot has carried out */
	__u32 pid;	   /* of the process, or of the thread */
	__u32 fault_state; /* enum lwk_fault_state */
	__u64 fault_addr;
	__u32 fault_write;
	/*
	 * Not 0: after the next doorbell the CPU runs its process no further, says FROZEN,
	 * and halts until this is 0 again. It still answers for pages and obeys orders.
	 */
	__u32 freeze;
	__u32 leader; /* with LWK_ORDER_THREAD: slot of the process's first thread */
	__u32 reserved[7];
} LWK_LINE_ALIGNED;

/*
 * Memory that an LWK process shares with processes of Linux, or of another LWK: pages of a file
 * that its proxy has mapped at the same addresses. lwkpart.ko pins them there and tells the LWK
 * where they are, and unpins them when the LWK says that none of its CPUs can reach them any
 * more, or at the end of the process. A proxy must neither name a page nor have one unpinned, so
 * all of this is where it cannot reach; what it does is to call LWK_GRANT, for the LWK's sake.
 *
 * One element per slot. The LWK fills in order, writable, start and count, then sets the state ASKED
 * and sends its proxy a request; lwkpart.ko takes it (BUSY), writes result and pages, and last
 * DONE. A reply without that is a lie: if the state is still ASKED, the LWK takes it back to IDLE.
 */
enum lwk_grant_order {
	LWK_GRANT_PIN = 1, /* as many as can be had at once, the first in any case */
	LWK_GRANT_UNPIN,   /* all that were granted in the range */
};

enum lwk_grant_state {
	LWK_GRANT_IDLE = 0,
	LWK_GRANT_ASKED,
	LWK_GRANT_BUSY,
	LWK_GRANT_DONE,
};

#define LWK_GRANT_PAGES 60
struct lwk_grant {
	__u32 state; /* enum lwk_grant_state */
	__u16 order; /* enum lwk_grant_order */
	__u16 writable;
	__u64 start;
	__u64 count;  /* of 4 KB pages; of PIN at most LWK_GRANT_PAGES */
	__s64 result; /* PIN: how many are in 'pages', or a negative error; UNPIN: 0 */
	__u64 pages[LWK_GRANT_PAGES]; /* physical addresses */
} LWK_LINE_ALIGNED;

#endif
