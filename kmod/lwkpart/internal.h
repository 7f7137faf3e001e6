/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of lwkpart.ko share. One file, one thing:
 *   control.c   /dev/lwkpart: checks every ioctl, calls the others
 *   ledger.c    what is lent, CPUs and memory ranges, and to whom
 *   cpuset.c    keeps lent CPUs in version 1 cpusets
 *   cpu.c       takes CPUs from Linux, parks them, starts and stops them
 *   park.h      the mailbox of a parked CPU
 *   park.S      the code a parked CPU runs
 *   memory.c    takes memory ranges from Linux and gives them back
 *   instance.c  the life of an instance
 *   image.c     the image and the first page tables in the partition's memory
 *   doorbell.c  interrupts between Linux and the LWK, both ways
 *   process.c   /dev/lwk/N: processes, channels, windows
 *   serve.c     waits for a process's packets, does its calls in the kernel
 *   watch.c     notices panics and hangs, sets the LWK's clock, logs its console
 *   usage.c     copies of the status area
 *   console.c   copies of console text
 *   counters.c  what the LWK's CPUs count
 *   event.c     eventfds that tell what happens to an instance
 *   dump.c      copies of an LWK kernel's own memory
 *   charge.c    charges a proxy with what its LWK process uses
 *   freeze.c    makes processes stand still
 *   confine.c   puts proxies into their cgroups
 *   grant.c     pages of shared mappings
 *   scan.c      which pages of a process are used
 *
 * Locking: 'lwkpart_mutex' (control.c) serialises everything done through
 * /dev/lwkpart. 'instance->rwsem' protects the state against the users of
 * /dev/lwk/N: they hold it for reading while they rely on RUNNING.
 */
#ifndef LWKPART_INTERNAL_H
#define LWKPART_INTERNAL_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"

struct lwk_thread;

struct instance {
	unsigned int id;	   /* N of /dev/lwk/N */
	enum lwk_state state;	   /* changed by instance_set_state() only */
	s64 since_ns;		   /* realtime at which it was reached */
	struct rw_semaphore rwsem; /* protects 'state' and 'message' */
	char message[LWKPART_MESSAGE_LEN];
	kuid_t uid;
	u32 job_id;
	bool proxy_calls; /* LWKPART_CREATE_PROXY_CALLS */
	struct kref kref; /* the control device and every open file hold one */

	unsigned int n_cpus;
	unsigned int n_slots; /* for threads (lwkshared.h); once LOADED */
	struct lwk_boot_cpu cpus[LWK_MAX_CPUS];
	/* Which Linux CPU gets the doorbells of CPU i. */
	unsigned int doorbell_cpu[LWK_MAX_CPUS];
	unsigned int n_mem;
	struct lwk_boot_mem mem[LWK_MAX_MEM]; /* largest first once loaded */

	/* The LWK kernel's own memory (lwkshared.h), where the LWK cannot rewrite it. */
	u64 reserve_start, reserve_size;
	u64 reserve_used; /* of it, before the LWK began */
	/* Where in it the image is. */
	unsigned int n_segments;
	struct lwkpart_dump_segment segments[LWKPART_MAX_SEGMENTS];
	/* The shared areas, in the direct map; NULL before LOADED. */
	struct lwk_boot_params *params;
	struct lwk_status *status;
	struct lwk_console *console;
	struct lwk_channel *channels;
	struct lwk_control *controls;
	struct lwk_grant *grants;
	struct lwk_clock *clock;
	u64 entry;     /* the image's entry point */
	u64 page_root; /* physical address of the first page tables */
	u64 stacks;    /* LWK address of the stacks of all CPUs */

	/* process.c: the thread of each slot, or NULL. */
	struct mutex process_mutex;
	struct lwk_thread *threads[LWK_MAX_SLOTS];
	unsigned int n_processes;
	struct list_head files;	   /* every open of /dev/lwk/N */
	bool stopped;		   /* its CPUs run nothing of it any more */
	struct list_head stranded; /* grant.c: of processes that had ended before that */
	wait_queue_head_t wait[LWK_MAX_SLOTS]; /* the proxy of each slot */
	char name[sizeof("lwk") + 10];	       /* of the interrupts */
	struct device device;		       /* holds a reference to the instance */
	struct cdev cdev;

	/* clock.c */
	struct lwk_clock clock_shown; /* what the LWK was told last, */
	struct clock_look {
		u64 tsc, ns;
	} clock_look;		 /* and what Linux's clock was then */
	unsigned long clock_set; /* jiffies */

	/* watch.c */
	struct delayed_work watch;
	unsigned int hang_ms;
	unsigned long watched; /* jiffies */
	struct {
		u64 beat;	      /* the heartbeat when it changed last */
		unsigned long silent; /* jiffies that have been watched since */
	} health[LWK_MAX_SLOTS];
	u64 out_of_memory;     /* processes killed so far */
	u64 console_logged;    /* positions: in Linux's log, */
	u64 console_read;      /* read by anybody, */
	u64 console_announced; /* and where LWK_EVENT_CONSOLE was sent last */

	/* event.c */
	spinlock_t event_lock;
	struct list_head listeners;

	/* counters.c: what params->counting was last told, where the LWK cannot rewrite it. */
	struct mutex counters_mutex;
	struct lwk_counting counting;

	/* confine.c: of the cgroups of its proxies; NULL after the last. Under rwsem. */
	struct file *groups[LWKPART_MAX_GROUPS];

	/* doorbell.c */
	int doorbell_irq[LWK_MAX_CPUS]; /* 0: none; CPUs that share a target share one */
};

/* control.c */
extern struct mutex lwkpart_mutex;

/* ledger.c; unless it says otherwise, call with lwkpart_mutex held */
struct lent_cpu {
	struct list_head link; /* by number */
	unsigned int cpu;
	struct instance *owner; /* NULL: nobody yet */
};

struct lent_range {
	struct list_head link; /* by address */
	u64 start, size;
	unsigned int node;
	enum lwkpart_mem_kind kind;
	struct instance *owner; /* NULL: nobody yet */
};

/* To whom something is lent, for messages and for copies of the ledger. */
struct lent_to {
	u32 instance; /* or LWKPART_NO_INSTANCE */
	u32 job_id;   /* 0 with LWKPART_NO_INSTANCE */
};

/* NULL when it is not lent; start and size are those of one whole range, in bytes. */
struct lent_cpu *ledger_find_cpu(unsigned int cpu);
struct lent_range *ledger_find_range(u64 start, u64 size);
/* Enter and strike out a line. 0 or -ENOMEM; the caller knows that it is not there. */
int ledger_add_cpu(unsigned int cpu);
int ledger_add_range(u64 start, u64 size, unsigned int node, enum lwkpart_mem_kind kind);
void ledger_remove_cpu(struct lent_cpu *lent);
void ledger_remove_range(struct lent_range *lent);
void ledger_assign_cpu(struct lent_cpu *lent, struct instance *owner);
void ledger_assign_range(struct lent_range *lent, struct instance *owner);
void ledger_unassign_all(const struct instance *owner);
/* Is it lent, any byte of it for memory, and to whom? Without the mutex. */
bool ledger_has_cpu(unsigned int cpu, struct lent_to *to);
bool ledger_has_memory(u64 start, u64 size, struct lent_to *to);
/* Without the mutex. */
bool ledger_is_empty(void);
/* Adds up lent_cpus, lent_ranges and lent_bytes. */
void ledger_count(struct lwkpart_info *info);
/* LWKPART_GET_LEDGER: 0 or -EFAULT. */
int ledger_copy(struct lwkpart_ledger *request);

/* cpuset.c */
/* Call before anything leaves Linux that a cpuset may name. */
void cpusets_keep_lent(void);

/* cpu.c; call with lwkpart_mutex held */
int cpus_init(void);
void cpus_exit(void);
/* LWKPART_LEND_CPU and LWKPART_RETURN_CPU, with their errors. */
int cpu_lend(unsigned int cpu);
int cpu_return(unsigned int cpu);
/*
 * Makes sure that a lent CPU is parked: one that ran an LWK before goes through
 * Linux once more, which takes as long as RETURN and LEND. 0 or a negative error;
 * then the CPU is still lent, and LWKPART_RETURN_CPU works.
 */
int cpu_make_ready(unsigned int cpu);
/* How a CPU enters an LWK (lwkshared.h); addresses are the LWK's, but for page_root. */
struct cpu_entry {
	u64 page_root; /* physical */
	u64 address;
	u64 stack; /* its upper end */
	u64 params;
	u32 index;
};
/* Starts a parked CPU: 0, or -ETIMEDOUT after a second; then it must be stopped too. */
int cpu_start(unsigned int cpu, const struct cpu_entry *entry);
/* Interrupts a CPU that was started, even if it takes no interrupts. */
void cpu_nmi(unsigned int cpu);
/* Stops CPUs that were started, whatever they do; takes 10 ms. The others are left alone. */
void cpu_stop(const struct lwk_boot_cpu *cpus, unsigned int count);
u32 cpu_apicid(unsigned int cpu);
/* The address of the code that enters an LWK; it lies in one page. */
u64 cpu_stub_address(void);

/* memory.c; call with lwkpart_mutex held */
int memory_init(void);
void memory_exit(void);
/* LWKPART_LEND_MEM and LWKPART_RETURN_MEM, with their errors; all fields are unchecked. */
int memory_lend(struct lwkpart_mem *request);
int memory_return(const struct lwkpart_mem *request);

/* image.c; call with rwsem held for writing */
/*
 * Puts an image into the partition's memory and fills in the instance's shared areas,
 * entry, page_root and stacks. 'file' is a copy that user space cannot change. 0, or
 * -ENOEXEC or -ENOMEM after a message; then nothing is loaded, even if it was before.
 */
int image_load(struct instance *instance, const void *file, u64 size);
/* Forgets the shared areas: their memory may go back to Linux. */
void image_unload(struct instance *instance);

/* doorbell.c */
int doorbell_init(void);
void doorbell_exit(void);
/* Makes the doorbells of an assigned instance and fills in params->cpus[].doorbell_*. */
int doorbell_connect(struct instance *instance);
void doorbell_disconnect(struct instance *instance);
/* Interrupts the CPU of a slot. */
void doorbell_ring(struct instance *instance, unsigned int slot);

/* process.c */
int process_init(void);
void process_exit(void);
/* Makes /dev/lwk/N, owned by instance->uid; and removes it. */
int process_device_create(struct instance *instance);
void process_device_destroy(struct instance *instance);
/* Wakes the proxy of one slot, from an interrupt; those of all, after a change of state. */
void process_wake(struct instance *instance, unsigned int slot);
void process_wake_all(struct instance *instance);
/*
 * Ends all processes of an instance that is no longer RUNNING and takes its
 * memory out of every proxy; the memory can be given back afterwards. Call it
 * after the state has changed and before the CPUs are stopped.
 */
void process_revoke_all(struct instance *instance);
/* The CPUs of the instance have been stopped: nothing uses what they were granted. */
void process_stopped_all(struct instance *instance);
/* Lets each process stand still while its proxy is stopped (SIGSTOP), and go on with it. */
void process_follow_proxies(struct instance *instance);

/* scan.c; needs no lock */
/* LWKPART_SCAN, with its errors; all fields are unchecked. */
int scan_pages(struct lwkpart_scan *request);
/* The memory of a process; mmput(). NULL: there is none (any more). */
struct mm_struct *scan_find_memory(s32 number);
/*
 * The entry for 'address' of the lowest level but one; or NULL when there is none before *next, which
 * is always the end of what the entry or the hole covers. *giant: it is such a page.
 */
pmd_t *scan_find_pmd(struct mm_struct *mm, unsigned long address, unsigned long end,
		     unsigned long *next, pud_t **giant);

/* LWKPART_MOVE, with its errors; all fields are unchecked. */
int move_pages_of(struct lwkpart_move *request);

/* instance.c: what /dev/lwkpart does with instances; call with lwkpart_mutex held */
int instance_create(struct lwkpart_create *request);
int instance_destroy(u32 id);
int instance_assign_cpu(const struct lwkpart_assign_cpu *request);
int instance_assign_memory(const struct lwkpart_assign_mem *request);
int instance_load(const struct lwkpart_load *request);
/* Takes lwkpart_mutex itself, and waits for the LWK without it. */
int instance_boot(const struct lwkpart_boot *request);
int instance_shutdown(u32 id);
int instance_info(struct lwkpart_instance_info *request);
int instance_kmsg(struct lwkpart_kmsg *request);
int instance_hang_limit(const struct lwkpart_hang_limit *request);
int instance_dump_layout(struct lwkpart_dump_layout *request);
int instance_dump(struct lwkpart_dump *request);
int instance_confine(const struct lwkpart_confine *request);
unsigned int instance_count(void);

/* Changes the state when the LWK says that it has panicked. Takes rwsem. */
void instance_notice_panic(struct instance *instance);

void instance_get(struct instance *instance);
void instance_put(struct instance *instance);
/*
 * The state, after a look at what the LWK itself says in its status page (PANIC)
 * and at whether its message is new. Call with rwsem held for reading or writing.
 */
enum lwk_state instance_state(struct instance *instance);
/* Enters a new state. With rwsem held for writing. */
void instance_set_state(struct instance *instance, enum lwk_state state);
/* Says that an instance that ran is HUNG, and why. Takes rwsem. */
void instance_hung(struct instance *instance, const char *why);
/* Has it processes, running or not? The LWK answers. */
static inline bool state_has_processes(enum lwk_state state)
{
	return state == LWK_STATE_RUNNING || state == LWK_STATE_FREEZING ||
	       state == LWK_STATE_FROZEN;
}

/* Text that an LWK wrote: at most size-1 bytes, printable, terminated. */
void copy_lwk_text(char *to, const char *from, size_t size);

/* watch.c */
void watch_init(struct instance *instance);
/* From the start of the CPUs until they are stopped; stop sleeps until it is over. */
void watch_start(struct instance *instance);
void watch_stop(struct instance *instance);
/* Has a look at once. Any context. */
void watch_soon(struct instance *instance);

/* clock.c */
/* Tells the LWK how Linux's clock goes; see struct lwk_clock. One caller at a time. */
void clock_publish(struct instance *instance);

/* usage.c; takes rwsem. 0, -ENODATA, -ENOSPC, -EFAULT, -ENOMEM */
int usage_copy(struct instance *instance, struct lwk_usage *request);

/* One group of the status area, which begins with its sequence count; odd: it is zeros. */
void usage_copy_group(void *to, const void *from, size_t size);

/* charge.c; with rwsem held and processes there, in the proxy's context */
struct charge {
	u64 user, system;     /* the CPU's TSC cycles that are charged, or were others' */
	u64 when_ns;	      /* monotonic */
	spinlock_t lock;      /* protects what follows */
	struct mm_struct *mm; /* that has the window, or NULL */
	unsigned int windows; /* parts of it */
	long rss_pages;	      /* that it was charged with */
};

/* A process starts on the CPU. */
void charge_begin(const struct instance *instance, unsigned int index, struct charge *charge);
/* Once a second, however often it is called. One call at a time. */
void charge_proxy(const struct instance *instance, unsigned int index, struct charge *charge);
/* Now; nothing, when the window is not in the current memory map. */
void charge_memory(const struct instance *instance, unsigned int index, struct charge *charge);
/* At the end, when the proxy's memory map is gone already. */
void charge_cpu_time(const struct instance *instance, unsigned int index, struct charge *charge);
/* A part of the window is mapped, and is no longer; without rwsem. */
void charge_open(struct charge *charge, struct mm_struct *mm);
void charge_close(struct charge *charge, struct mm_struct *mm);

/* console.c; takes rwsem. 0 or -EFAULT */
int console_copy(struct instance *instance, struct lwkpart_kmsg *request);
/* Console text from *position on, which moves; printable. Its length. With rwsem held. */
u32 console_read(const struct instance *instance, u64 *position, char *text, u32 size);

/* dump.c; call with lwkpart_mutex held. 0, -ENODATA; copy: -EFAULT, -ENOMEM */
int dump_layout(struct instance *instance, struct lwkpart_dump_layout *layout);
int dump_copy(const struct instance *instance, struct lwkpart_dump *request);

/* counters.c */
/* LWK_COUNTERS; takes rwsem. 0, -EINVAL, -EHOSTDOWN, -ETIMEDOUT, -EINTR */
int counters_command(struct instance *instance, struct lwk_counters *request);
/* Leaves no hardware counter running on CPUs that are about to go back. Takes rwsem. */
void counters_remove(struct instance *instance);

/* event.c */
void event_init(struct instance *instance);
/* 'owner' is the open file that wants to know. 0, -EBADF, -EINVAL, -ENOSPC, -ENOMEM */
int event_listen(struct instance *instance, const void *owner, const struct lwk_eventfd *request);
void event_forget(struct instance *instance, const void *owner);
/* Any context. */
void event_signal(struct instance *instance, enum lwk_event event);

/* confine.c; takes rwsem */
/* LWKPART_CONFINE: 0, -EBADF, -EINVAL */
int confine_set(struct instance *instance, const struct lwkpart_confine *request);
void confine_release(struct instance *instance);
/* Moves the calling process into the instance's cgroups. 0 or a negative error. */
int confine_current(struct instance *instance);

/* freeze.c */
/* Why a process stands still: bits of struct lwk_control.freeze. */
#define FREEZE_INSTANCE 1U
#define FREEZE_PROXY 2U
/* Sets or clears a reason for one CPU. With rwsem held and processes there. */
void freeze_slot(struct instance *instance, unsigned int slot, u32 reason, bool frozen);
/* LWK_FREEZE; takes rwsem. */
int freeze_instance(struct instance *instance, const struct lwk_freeze *request);

#endif
