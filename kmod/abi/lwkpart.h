/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * The user ABI of lwkpart.ko: everything a program may ask of the module.
 *
 * Two kinds of device:
 *   /dev/lwkpart  the control device, root only. Lends CPUs and memory to LWK
 *                 instances, loads, boots and ends them (LWKPART_*).
 *   /dev/lwk/N    one per LWK instance, mode 0600, owned by the job's user. A
 *                 proxy opens it once per LWK process (LWK_*).
 *
 * Rules that hold for every ioctl:
 *   - 'flags' and 'reserved' must be 0 unless a flag is defined below: EINVAL.
 *   - Addresses are physical, sizes are bytes, both multiples of
 *     LWKPART_MEM_ALIGN; CPU numbers are Linux's.
 *   - A structure only ever grows through a new ioctl number; LWKPART_ABI_VERSION
 *     changes when the meaning of an existing one does.
 *   - On error nothing has changed, unless the ioctl says otherwise.
 *
 * The memory that Linux and an LWK share is described in lwkshared.h.
 */
#ifndef LWKPART_H
#define LWKPART_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/lwkshared.h"

#define LWKPART_ABI_VERSION 1

#define LWKPART_DEVICE "/dev/lwkpart"
#define LWK_DEVICE_DIR "/dev/lwk"

/* Granularity of lent memory: one large page. */
#define LWKPART_MEM_ALIGN (2UL << 20)
/* Largest kernel image LWKPART_LOAD accepts. */
#define LWKPART_MAX_IMAGE (64UL << 20)
#define LWKPART_CMDLINE_LEN 256
#define LWKPART_MESSAGE_LEN 128

/* The life of an LWK instance. */
enum lwk_state {
	LWK_STATE_CREATED = 0, /* exists, owns nothing yet */
	LWK_STATE_ASSIGNED,    /* has CPUs or memory */
	LWK_STATE_LOADED,      /* kernel image is in its memory */
	LWK_STATE_BOOTING,     /* its CPUs were started */
	LWK_STATE_RUNNING,     /* accepts processes */
	LWK_STATE_FREEZING,    /* asked to halt */
	LWK_STATE_FROZEN,      /* halted, state kept */
	LWK_STATE_SHUTDOWN,    /* stopped; its CPUs execute nothing */
	LWK_STATE_PANIC,       /* stopped itself, see the message */
	LWK_STATE_HUNG,	       /* does not answer */
	LWK_STATE_COUNT
};

/* ---- /dev/lwkpart ------------------------------------------------------ */

/* What the module is and has lent in all. */
struct lwkpart_info {
	__u32 abi_version; /* out: LWKPART_ABI_VERSION */
	__u32 instances;   /* out: instances that exist */
	__u32 lent_cpus;   /* out */
	__u32 lent_ranges; /* out: memory ranges in the ledger */
	__u64 lent_bytes;  /* out */
	__u64 block_bytes; /* out: size of Linux's memory blocks */
	__u64 reserved[4];
};

/*
 * Takes one CPU from Linux (hot-unplug) and parks it, or gives it back.
 * LEND: EPERM for CPU 0, EALREADY when lent, ENODEV when not on-line, EBUSY
 * when Linux cannot spare it. RETURN: ENOENT when not lent, EBUSY while assigned.
 */
struct lwkpart_cpu {
	__u32 cpu;
	__u32 flags;
};

/*
 * How a memory range came to be lent: as whole memory blocks that user space
 * has put off-line before (it brings them on-line again after RETURN), or as a
 * range that the module allocated from Linux (RETURN frees it).
 */
enum lwkpart_mem_kind {
	LWKPART_MEM_BLOCK = 1,
	LWKPART_MEM_CONTIG = 2,
};

/*
 * LEND, kind BLOCK: enters [start, start+size) into the ledger. EINVAL when it
 * is not whole blocks, EBUSY when a page of it is on-line, EEXIST when lent.
 * LEND, kind CONTIG: finds 'size' bytes of contiguous memory on NUMA node 'node'
 * and returns its address in 'start'; ENOMEM when there is no such run. It can
 * take seconds; a fatal signal ends it with EINTR.
 * RETURN: [start, start+size) must be exactly one lent range: ENOENT; EBUSY
 * while it is assigned. 'node' and 'kind' are not looked at.
 */
struct lwkpart_mem {
	__u64 start; /* BLOCK: in; CONTIG: out of LEND, in of RETURN */
	__u64 size;
	__u32 node; /* NUMA node, in; BLOCK: checked against the range's */
	__u32 kind; /* enum lwkpart_mem_kind */
	__u64 reserved;
};

/*
 * Makes an instance, and its device /dev/lwk/N owned by 'uid'; ENOSPC when there
 * are LWKPART_MAX_INSTANCES. DESTROY shuts it down first if needed and takes its
 * CPUs and memory back into the ledger as unassigned, where RETURN finds them.
 */
#define LWKPART_MAX_INSTANCES 64
struct lwkpart_create {
	__u32 instance; /* out: N */
	__u32 uid;	/* in: owner of the device */
	__u32 job_id;	/* in: for people who read the ledger */
	__u32 flags;
};
/* LWK_SERVE_CALLS has no effect: proxies make all calls themselves. */
#define LWKPART_CREATE_PROXY_CALLS 1U

/*
 * Gives a lent and unassigned CPU or range to an instance that has not been
 * booted (EBUSY otherwise). 'size' must be the whole lent range. The index of a
 * CPU in the LWK is the order of assignment. A CPU that ran an LWK before goes through
 * Linux once more, which takes as long as RETURN and LEND. An instance that was LOADED
 * is ASSIGNED again and must be loaded anew.
 */
struct lwkpart_assign_cpu {
	__u32 instance;
	__u32 cpu;
	/* The Linux CPU that receives this LWK CPU's doorbells; must be on-line. */
	__u32 doorbell_cpu;
	__u32 flags;
};

struct lwkpart_assign_mem {
	__u32 instance;
	__u32 flags;
	__u64 start;
	__u64 size;
};

/*
 * Puts an ELF64 x86-64 kernel image into the instance's memory. ENOEXEC when it
 * is not one that follows lwkshared.h, ENOMEM when the instance's memory is too
 * small for it, EBUSY in a state other than ASSIGNED or LOADED. After an error nothing is
 * loaded, even if it was before; the kernel's log says what is wrong with the image.
 */
struct lwkpart_load {
	__u32 instance;
	__u32 flags;
	__u64 image; /* user address of the file's bytes */
	__u64 size;
};

/*
 * Starts all CPUs and waits until the LWK says RUNNING. ETIMEDOUT: the state is
 * HUNG; EIO: it panicked, see LWKPART_GET_INSTANCE; ECANCELED: another program has shut
 * it down meanwhile; EINTR: the caller was killed, the state is HUNG. After these only
 * SHUTDOWN and DESTROY make sense. EBUSY in a state other than LOADED.
 */
struct lwkpart_boot {
	__u32 instance;
	__u32 timeout_ms;
	char cmdline[LWKPART_CMDLINE_LEN]; /* NUL terminated */
	__u64 reserved[2];
};

/* SHUTDOWN, DESTROY; SHUTDOWN also succeeds when there is nothing to stop (any more). */
struct lwkpart_instance_op {
	__u32 instance;
	__u32 flags;
};

struct lwkpart_instance_info {
	__u32 instance;	 /* in */
	__u32 state;	 /* out: enum lwk_state */
	__u32 uid;	 /* out */
	__u32 job_id;	 /* out */
	__u32 cpus;	 /* out: number assigned */
	__u32 ranges;	 /* out: memory ranges assigned */
	__u64 bytes;	 /* out: memory assigned */
	__u32 processes; /* out: LWK processes that exist */
	__u32 reserved32;
	char message[LWKPART_MESSAGE_LEN]; /* out: why PANIC or HUNG */
	__u64 reserved[4];
};

#define LWKPART_NO_INSTANCE 0xffffffffU

/* One line of the ledger. */
struct lwkpart_ledger_entry {
	__u32 kind;	/* 0: a CPU; else enum lwkpart_mem_kind */
	__u32 instance; /* who has it, or LWKPART_NO_INSTANCE */
	__u32 cpu;	/* kind 0 */
	__u32 node;
	__u64 start; /* memory */
	__u64 size;
};

/*
 * Copies the ledger out: CPUs first, then memory by address. Fills at most
 * 'capacity' entries and always tells the full 'count'.
 */
struct lwkpart_ledger {
	__u64 entries;	/* in: user address of lwkpart_ledger_entry[capacity] */
	__u32 capacity; /* in */
	__u32 count;	/* out */
	__u64 reserved;
};

/*
 * Copies console text out. 'position' counts all bytes the LWK ever wrote: pass
 * 0 first, then what came back; text that the ring has lost is skipped.
 */
struct lwkpart_kmsg {
	__u32 instance;
	__u32 flags;
	__u64 position; /* in/out */
	__u64 buffer;	/* user address */
	__u32 capacity; /* in: bytes of buffer */
	__u32 length;	/* out: bytes copied */
};

/*
 * Moves pages of 4 KB that a process has, anonymous ones that nobody else has, to a NUMA node, as
 * move_pages(2) does it, but in less time; neighbours together, so name them by address. What the
 * process may have by its cpuset is not looked at. 'status' has the node of each that was moved, and
 * -EAGAIN for the others, which move_pages(2) can try: of another kind, in use by the kernel, not
 * there (any more), already on that node, or without room. ESRCH: there is no such process, or it has
 * no memory (any more). EOPNOTSUPP: this kernel cannot do it. EINTR: killed before all was tried.
 */
struct lwkpart_move {
	__s32 pid;	 /* of the process, as the caller knows it */
	__u32 node;	 /* one with memory */
	__u64 addresses; /* user address of __u64[count] */
	__u64 status;	 /* user address of __s32[count]; written */
	__u32 count;	 /* up to 65536 */
	__u32 reserved;
};

/*
 * How long a CPU of the instance may stay in the LWK's kernel without a sign of life
 * before the instance is HUNG; at least 1000. LWKPART_CREATE sets LWKPART_HANG_MS.
 */
#define LWKPART_HANG_MS 10000
struct lwkpart_hang_limit {
	__u32 instance;
	__u32 limit_ms;
};

/*
 * Lists the pages that a process has on some NUMA nodes, by address, whoever else has
 * them too. Pages of devices and the zero pages are left out. A call looks at part of
 * the addresses only: repeat it until 'start' is 'end'. With CLEAR, the next scan finds
 * REFERENCED only what is used after this one; what reclaim knows of the pages is kept.
 * ESRCH: there is no such process, or it has no memory (any more).
 */
#define LWKPART_SCAN_CLEAR 0x1U
#define LWKPART_SCAN_NODES 1024
struct lwkpart_scan {
	__s32 pid;	/* in: of the process, as the caller knows it */
	__u32 flags;	/* in */
	__u64 start;	/* in: an address of the process; out: where to go on */
	__u64 end;	/* in; may be beyond what a process can have */
	__u64 pages;	/* in: user address of __u64[capacity]: addresses with LWKPART_PAGE_* */
	__u32 capacity; /* in: up to 65536 */
	__u32 count;	/* out */
	__u64 nodes[LWKPART_SCAN_NODES / 64]; /* in: a bit for each node that counts */
	__u64 physical_start;		      /* in: only pages that begin in this range */
	__u64 physical_end;		      /* in: 0: no such range */
	__u64 reserved;
};

/* In the lower bits of the addresses that SCAN lists. */
#define LWKPART_PAGE_REFERENCED 0x001UL /* used since its Accessed bit was last cleared */
#define LWKPART_PAGE_HUGE 0x002UL	/* 2 MB */
#define LWKPART_PAGE_GIANT 0x004UL	/* 1 GB; HUGE is set too */
#define LWKPART_PAGE_HUGETLB 0x008UL	/* of hugetlbfs */
#define LWKPART_PAGE_SHARED 0x010UL	/* mapped more than once */
#define LWKPART_PAGE_FILE 0x020UL	/* of a file or shared memory */
#define LWKPART_PAGE_KSM 0x040UL	/* one for many with the same content */
#define LWKPART_PAGE_MLOCKED 0x080UL
#define LWKPART_PAGE_HINTED 0x100UL /* not accessible now: NUMA balancing, or PROT_NONE */

/*
 * Where the memory of an LWK's kernel is: 'bytes' from the physical address 'start' on, which it
 * has at LWK_DIRECT_MAP + start; parts of it, the image's segments, also at 'address'.
 * The CPUs of an LWK that is HUNG get an NMI, so that they write their registers there.
 * ENOENT: the job has no such instance; ENODATA: nothing is loaded.
 */
#define LWKPART_MAX_SEGMENTS 32
struct lwkpart_dump_segment {
	__u64 address; /* the LWK's */
	__u64 start;   /* physical */
	__u64 size;
};

struct lwkpart_dump_layout {
	__u32 instance; /* in */
	__u32 job_id;	/* in */
	__u64 start;	/* out */
	__u64 bytes;	/* out; grows while the LWK runs */
	__u32 count;	/* out: of segments */
	__u32 reserved32;
	__u64 reserved[4];
	struct lwkpart_dump_segment segments[LWKPART_MAX_SEGMENTS]; /* out */
};

/* Copies that memory out from 'offset' on, as it is; the LWK goes on. Errors as above. */
#define LWKPART_MAX_DUMP (1UL << 20)
struct lwkpart_dump {
	__u32 instance; /* in */
	__u32 job_id;	/* in */
	__u64 offset;	/* in: from 'start' */
	__u64 buffer;	/* in: user address */
	__u64 size;	/* in: up to LWKPART_MAX_DUMP; out: bytes copied, 0 at the end */
	__u64 reserved;
};

/*
 * From now on a process that becomes a proxy of the instance (LWK_PROC_CREATE) is moved into
 * these cgroups, with the rights of the caller; if that fails, it does not become one. 'fds':
 * their cgroup.procs files, open for writing. They replace those of an earlier call; none:
 * proxies stay where they are. EBADF; EINVAL: no file of a cgroup; EBUSY: it was booted.
 */
#define LWKPART_MAX_GROUPS 8
struct lwkpart_confine {
	__u32 instance;
	__u32 count;
	__s32 fds[LWKPART_MAX_GROUPS];
	__u64 reserved;
};

#define LWKPART_IOC 0xb7
#define LWKPART_GET_INFO _IOR(LWKPART_IOC, 0x00, struct lwkpart_info)
#define LWKPART_LEND_CPU _IOW(LWKPART_IOC, 0x01, struct lwkpart_cpu)
#define LWKPART_RETURN_CPU _IOW(LWKPART_IOC, 0x02, struct lwkpart_cpu)
#define LWKPART_LEND_MEM _IOWR(LWKPART_IOC, 0x03, struct lwkpart_mem)
#define LWKPART_RETURN_MEM _IOW(LWKPART_IOC, 0x04, struct lwkpart_mem)
#define LWKPART_CREATE _IOWR(LWKPART_IOC, 0x05, struct lwkpart_create)
#define LWKPART_DESTROY _IOW(LWKPART_IOC, 0x06, struct lwkpart_instance_op)
#define LWKPART_ASSIGN_CPU _IOW(LWKPART_IOC, 0x07, struct lwkpart_assign_cpu)
#define LWKPART_ASSIGN_MEM _IOW(LWKPART_IOC, 0x08, struct lwkpart_assign_mem)
#define LWKPART_LOAD _IOW(LWKPART_IOC, 0x09, struct lwkpart_load)
#define LWKPART_BOOT _IOW(LWKPART_IOC, 0x0a, struct lwkpart_boot)
#define LWKPART_SHUTDOWN _IOW(LWKPART_IOC, 0x0b, struct lwkpart_instance_op)
#define LWKPART_GET_INSTANCE _IOWR(LWKPART_IOC, 0x0c, struct lwkpart_instance_info)
#define LWKPART_GET_LEDGER _IOWR(LWKPART_IOC, 0x0d, struct lwkpart_ledger)
#define LWKPART_KMSG _IOWR(LWKPART_IOC, 0x0e, struct lwkpart_kmsg)
#define LWKPART_HANG_LIMIT _IOW(LWKPART_IOC, 0x0f, struct lwkpart_hang_limit)
#define LWKPART_SCAN _IOWR(LWKPART_IOC, 0x10, struct lwkpart_scan)
#define LWKPART_DUMP_LAYOUT _IOWR(LWKPART_IOC, 0x11, struct lwkpart_dump_layout)
#define LWKPART_DUMP _IOWR(LWKPART_IOC, 0x12, struct lwkpart_dump)
#define LWKPART_CONFINE _IOW(LWKPART_IOC, 0x13, struct lwkpart_confine)
#define LWKPART_MOVE _IOW(LWKPART_IOC, 0x14, struct lwkpart_move)

/* ---- /dev/lwk/N -------------------------------------------------------- */

/*
 * What to map with mmap(2), by file offset, always MAP_SHARED:
 *   STATUS   the instance's status area, read-only
 *   CHANNEL  the process's channel (struct lwk_channel), after LWK_PROC_CREATE
 *   WINDOW   the LWK process's memory, at the same addresses it has there:
 *            [LWK_USER_START, LWK_USER_END) with MAP_FIXED_NOREPLACE; or a part of it, where
 *            something else was mapped meanwhile, at its own offset from LWK_MMAP_WINDOW on
 */
#define LWK_MMAP_STATUS 0x0UL
#define LWK_MMAP_CHANNEL 0x10000000UL
#define LWK_MMAP_WINDOW 0x100000000UL

/*
 * Makes an LWK process on a free LWK CPU; the calling process becomes its proxy.
 * With LWK_PROC_SHARE, if none is free, it shares the CPU of the thread that 'index' was said to be of
 * when that was made.
 * The process lives as long as this open file. EAGAIN: every LWK CPU has one, or that one has as many
 * threads as it can have; EBUSY: the
 * instance is FREEZING or FROZEN; EHOSTDOWN: it does not run; EALREADY: this file has one. Other errors: it
 * could not be moved into the instance's cgroups (LWKPART_CONFINE).
 *
 * With LWK_PROC_AGAIN the file has a process, and the caller is its proxy: that one ends, and a new
 * one begins on its first CPU, which nobody else can get meanwhile; other CPUs of it are given
 * back. What the caller had mapped of it is not to be touched before that. EPERM: the caller is
 * not its proxy; EINVAL: it has none; EIO: the CPU does not answer, and the process has ended.
 */
#define LWK_PROC_AGAIN 1U
#define LWK_PROC_SHARE 2U
struct lwk_proc_create {
	__u32 index; /* out: the LWK's number of the first thread: its slot; in with LWK_PROC_SHARE */
	__u32 cpu;   /* out: Linux's number of that CPU */
	__u32 pid;   /* in: what getpid() in the LWK answers */
	__u32 flags;
};

/*
 * Gives the process of this file one more slot (lwkshared.h), for a thread: of a free CPU, or else of
 * that of its own with the fewest threads. The calling Linux thread, one of
 * the process that called LWK_PROC_CREATE, is from now on this slot's: its LWK_SERVE, LWK_DOORBELL
 * and LWK_MMAP_CHANNEL are about this slot's channel; those of others stay the first slot's. The slot
 * is the process's until it ends.
 * EAGAIN: its CPUs have as many threads as they can have; EALREADY: the caller has one; EPERM, EINVAL, EHOSTDOWN, EIO, ENOMEM.
 */
struct lwk_thread_create {
	__u32 index; /* out: the slot */
	__u32 cpu;   /* out: Linux's number of its CPU */
	__u32 flags;
	__u32 reserved;
};

/*
 * Waits for packets from the LWK: first it looks for some time that depends on how long
 * the last ones took to come, then it sleeps. With LWK_SERVE_CALLS requests for the most
 * used calls on files are carried out and replied to within, as if the caller had made
 * them; where that would make a difference (ptrace, seccomp, audit, a pending signal)
 * they are left in the channel as the others are.
 *
 * Returns when the channel holds a packet for the caller, or with 'has_reply': a call was
 * carried out, and something that Linux does on the way back to the caller (signals,
 * the last close of a file) comes before its reply, which the caller now sends.
 *
 * The caller keeps its counts in the channel itself: to_linux.tail and to_lwk.head.
 * EINTR on a signal, EIO when the instance is no longer RUNNING, EINVAL.
 */
struct lwk_serve {
	__u32 flags;
	__u32 has_reply; /* out */
	__u32 id;	 /* out, with has_reply: of the request */
	__u32 keep_from; /* this descriptor, and all above: the caller looks after them */
	__s64 result;	 /* out, with has_reply */
	__u64 served;	 /* out: calls carried out here so far */
};
#define LWK_SERVE_CALLS 1U

/* Removes pages of [start, start+size) from the caller's WINDOW. */
struct lwk_unmap {
	__u64 start;
	__u64 size;
};

/* State of the instance for its user. */
struct lwk_instance_status {
	__u32 state;	    /* enum lwk_state */
	__u32 cpus;	    /* LWK CPUs */
	__u32 processes;    /* LWK processes that exist */
	__u32 status_bytes; /* length of LWK_MMAP_STATUS */
	char message[LWKPART_MESSAGE_LEN];
};

/* The instance in full, for its user; works as long as the file is open. */
struct lwk_instance_details {
	__u32 state; /* enum lwk_state */
	__u32 uid;   /* owner */
	__u32 job_id;
	__u32 cpus;	 /* LWK CPUs */
	__u32 processes; /* LWK processes that exist */
	__u32 reserved32;
	__u64 bytes;			   /* memory assigned */
	__s64 since_ns;			   /* realtime at which 'state' was reached */
	char message[LWKPART_MESSAGE_LEN]; /* why PANIC or HUNG */
	__u64 reserved[4];
};

/*
 * Copies the status area out: struct lwk_status with 'cpus' elements. Each group is one
 * moment's; one that the LWK would not leave alone has an odd 'seq' and zeros. The LWK
 * notices nothing. ENODATA: there is none (not loaded, or destroyed); ENOSPC: capacity
 * is too small, 'length' tells what is needed.
 */
struct lwk_usage {
	__u64 buffer;	/* in: user address */
	__u32 capacity; /* in: bytes of buffer */
	__u32 length;	/* out: bytes copied, or needed */
	__u32 cpus;	/* out */
	__u32 tsc_khz;	/* out */
	__u64 tsc;	/* out: TSC value at this moment */
	__u64 reserved[2];
};

enum lwk_event {
	LWK_EVENT_STATE = 0, /* the instance's state is another one */
	LWK_EVENT_PANIC,
	LWK_EVENT_HANG,
	LWK_EVENT_OUT_OF_MEMORY, /* a process was killed: the partition has no memory left */
	LWK_EVENT_CONSOLE,	 /* half of the console's ring is text that nobody has read */
	LWK_EVENT_EXIT,		 /* a process has ended */
	LWK_EVENTS
};

/*
 * From now on 'event' adds 1 to the eventfd(2) 'fd', until this file is closed. Any number of
 * kinds may share an eventfd. EBADF, EINVAL; ENOSPC: LWK_MAX_EVENTFDS on this file.
 */
#define LWK_MAX_EVENTFDS 32
struct lwk_eventfd {
	__s32 fd;
	__u32 event; /* enum lwk_event */
};

/*
 * frozen 1: the LWK's processes stand still and its CPUs halt; 0: they go on. Returns when
 * it is so. ETIMEDOUT: a CPU did not halt in timeout_ms, and all go on; EHOSTDOWN: the
 * instance is neither RUNNING nor FROZEN.
 */
struct lwk_freeze {
	__u32 frozen;
	__u32 timeout_ms; /* 1…60000 */
};

/*
 * What the instance's CPUs count, all of them the same: SET new counters instead of those there
 * were (none: count 0), which begin at 0 and stand still; START and STOP; GET changes nothing.
 * All fields but command are outputs, and with SET count and counters are inputs. Returns when all
 * CPUs have seen to it, which interrupts them; GET does not.
 *
 * The values are in LWK_GET_USAGE, for CPUs whose lwk_cpu_counters.order is 'order'. ETIMEDOUT:
 * some CPU was busy for long; it follows when it can. EHOSTDOWN: the instance has no processes
 * (any more), or never will. EINVAL.
 */
enum lwk_counters_command {
	LWK_COUNTERS_GET = 0,
	LWK_COUNTERS_SET,
	LWK_COUNTERS_START,
	LWK_COUNTERS_STOP,
};

struct lwk_counters {
	__u32 command; /* enum lwk_counters_command */
	__u32 order;
	__u32 running;
	__u32 count;
	struct lwk_counter counters[LWK_MAX_COUNTERS];
};

#define LWK_IOC 0xb8
#define LWK_GET_STATUS _IOR(LWK_IOC, 0x00, struct lwk_instance_status)
#define LWK_PROC_CREATE _IOWR(LWK_IOC, 0x01, struct lwk_proc_create)
#define LWK_SERVE _IOWR(LWK_IOC, 0x02, struct lwk_serve)
/*
 * Makes the LWK CPU look at the channel: interrupts it if it has halted, or if a signal
 * is pending. A reply that it has seen in the meantime is no reason to.
 */
#define LWK_DOORBELL _IO(LWK_IOC, 0x03)
#define LWK_UNMAP _IOW(LWK_IOC, 0x04, struct lwk_unmap)
#define LWK_GET_DETAILS _IOR(LWK_IOC, 0x05, struct lwk_instance_details)
#define LWK_GET_USAGE _IOWR(LWK_IOC, 0x06, struct lwk_usage)
/* As LWKPART_KMSG; 'instance' must be 0. */
#define LWK_KMSG _IOWR(LWK_IOC, 0x07, struct lwkpart_kmsg)
#define LWK_EVENTFD _IOW(LWK_IOC, 0x08, struct lwk_eventfd)
#define LWK_FREEZE _IOW(LWK_IOC, 0x09, struct lwk_freeze)
#define LWK_THREAD_CREATE _IOWR(LWK_IOC, 0x0a, struct lwk_thread_create)
/*
 * Ends the process, as closing the file does, though others may be about to use it: their
 * LWK_SERVE ends with EIO. The file can have no other process. Returns how many processes the
 * instance still has: of those that end together, the last one's caller gets 0.
 */
#define LWK_PROC_END _IO(LWK_IOC, 0x0b)
#define LWK_COUNTERS _IOWR(LWK_IOC, 0x0c, struct lwk_counters)
/*
 * Does what the LWK CPU of the calling thread wants (struct lwk_grant): pins pages of files that the
 * caller has mapped shared, or unpins them. Only files whose pages are nothing but memory (tmpfs)
 * can be had. What comes of it, the LWK reads; for the caller it is 0, or EPERM, EIO; EINVAL: the
 * LWK wants nothing.
 */
#define LWK_GRANT _IO(LWK_IOC, 0x10)

#endif
