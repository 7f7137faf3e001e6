/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bundled LWK, as its own files see it. One file, one thing:
 *   entry.S    every way into and out of the kernel
 *   main.c     boot, and what a CPU does when it has no process
 *   schedule.c  which of its threads a CPU runs
 *   cpu.c      descriptor tables, MSRs, the local APIC, floating point
 *   trap.c     exceptions and interrupts
 *   pages.c    physical memory: the kernel's pool and the processes'
 *   space.c    a process's address space
 *   policy.c   which NUMA nodes its pages come from
 *   user.c     reading and writing a process's memory
 *   channel.c  packets to and from the proxy
 *   process.c  the life of a process
 *   thread.c   more threads of it, on other CPUs
 *   fork.c     more processes, made by one, and other programs
 *   futex.c    threads that wait for each other
 *   signal.c   signals
 *   pending.c  … that wait
 *   clock.c    time
 *   vdso.c     … as programs read it without a call
 *   account.c  statistics that Linux reads
 *   counters.c performance counters, and counts, that Linux wants
 *   share.c    memory that other processes have, too
 *   syscall.c  the table of system calls, and the local ones
 *   console.c  console text, panic
 *   registers.c  registers of all CPUs at a panic, or when it hangs
 *
 * A thread has a slot (lwkshared.h), and what it runs on is its slot's struct slot: with a kernel stack,
 * a channel to the proxy, and a share of a CPU, struct cpu, that may have other threads. One that
 * waits lets another one go on (schedule.c), and nothing else does. So only who holds no lock may
 * wait, and code that waits for another thread by looking must let it run.
 *
 * A process belongs to the slot of its first thread; a slot that
 * has been given to it for another one stays with it until it ends. The kernel runs with
 * interrupts off; they are on in user mode and while a CPU halts. What CPUs share: the page
 * pools and the console (a lock each), and the threads of a process (their locks, in this
 * order) its futexes, its address space, the pools; its signals that wait, the pools; and its
 * signal actions.
 */
#ifndef LWK_H
#define LWK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lwk/time/clock.h"
#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "lwk/signals/signal.h"
#include "lwk/machine/x86.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64; /* as the ABI headers have it */
typedef __s64 s64;
typedef int32_t s32;

#define PAGE_SIZE 4096UL
#define LARGE_SIZE (2UL << 20)
#define ALIGN_DOWN(x, a) ((x) & ~((a)-1))
#define ALIGN_UP(x, a) (((x) + (a)-1) & ~((a)-1))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Shared memory: one access, as written, in this order. */
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define LOAD_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)

/* errno values, negated where a system call returns them */
enum {
	EPERM = 1,
	ENOENT = 2,
	ESRCH = 3,
	EINTR = 4,
	EIO = 5,
	EBADF = 9,
	EAGAIN = 11,
	ENOMEM = 12,
	EACCES = 13,
	EFAULT = 14,
	EEXIST = 17,
	ENODEV = 19,
	EISDIR = 21,
	EINVAL = 22,
	ESPIPE = 29,
	ENOSYS = 38,
	EOPNOTSUPP = 95,
	ETIMEDOUT = 110,
};

/* The registers of interrupted or calling code, as entry.S saves them. */
struct frame {
	u64 r15, r14, r13, r12, rbp, rbx;
	u64 r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	u64 vector; /* of the exception or interrupt; SYSCALL_VECTOR */
	u64 error;  /* of the exception; the number of the system call */
	u64 rip, cs, rflags, rsp, ss;
};
#define SYSCALL_VECTOR 0x100
/* Of the local APIC's timer. */
#define TIMER_VECTOR 0xf1

struct spinlock {
	u32 locked;
};

/* space.c: [start, end) with one protection. */
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)
/* policy.c: as set_mempolicy(2) has it. */
struct policy {
	u32 mode;
	u64 nodes;
};
/* A page comes from 'node' if that has one, then from one of 'nodes'. */
struct choice {
	u32 node;
	u64 nodes;
};

struct area {
	struct area *next;
	u64 start, end;
	u32 prot;
	bool shared;	      /* its pages are Linux's (share.c), and so is what is in them */
	u32 file;	      /* the proxy's number for what was mapped here, or 0 */
	u64 offset;	      /* in that, of 'start' */
	struct policy policy; /* MPOL_DEFAULT: the thread's */
};

struct space {
	u64 root;	    /* physical address of the top page table */
	struct area *areas; /* by address */
	struct area *free_areas;
	void *area_pages; /* the kernel pages that areas are made of */
	u64 brk_start, brk;
	u64 pages_4k, pages_2m;
	u64 peak_bytes;
	struct spinlock lock; /* all of this, and the page tables */
	u32 changing;	      /* 1: somebody changes mappings; space.c */
	u64 tlb_generation;   /* counts what TLBs must forget */
};

/* signal.c: as the process gave it with rt_sigaction(2), the kernel's layout. */
struct sigaction {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};
#define SIGNALS 64
/* Of the kernel's, for the signals that wait in a process. */
#define QUEUED_PAGES 4
#define SS_ONSTACK 1
#define SS_DISABLE 2

struct sigstack {
	u64 sp;
	u32 flags;
	u32 pad;
	u64 size;
};

/* pending.c: signals that wait, each as often as it will be taken. */
struct pending {
	u64 set; /* bit s-1: signal s */
	struct queued *first;
};

struct process {
	u32 pid;
	u32 uid;
	struct slot *first; /* runs its first thread */
	u32 n_slots;	    /* slots that have its address space, with or without a thread */
	u32 n_threads;
	u32 ending; /* 1: no thread returns to user mode any more */
	bool out_of_memory;
	struct space space;
	struct spinlock futex_lock;
	struct waiter *waiters;
	struct spinlock action_lock;
	struct sigaction actions[SIGNALS]; /* [s-1] */
	u64 told;			   /* signals that the proxy passes on, though ignored */
	struct spinlock pending_lock; /* pending signals, also of its threads, but for the sets */
	struct pending pending;	      /* for any thread */
	struct queued *free_queued;   /* what they are kept in */
	void *queued_pages[QUEUED_PAGES];
	u32 lost_signals; /* 1: there were too many */
	u64 taken_timer;  /* of the last signal of a timer that was taken: its number */
			  /* plus 1, and in the upper half its overruns; or 0 */
	u64 past_cycles;  /* of threads that have ended */
};

struct thread {
	u32 tid;
	u64 blocked; /* bit s-1: signal s */
	struct pending pending;
	u64 suspended_mask; /* rt_sigsuspend: what 'blocked' was */
	bool suspended;
	bool interrupted; /* the call being left was cut short: EINTR, or restart */
	struct sigstack altstack;
	struct policy policy;
	u64 clear_tid;	 /* address of a futex word that becomes 0 at its end, or 0 */
	u64 robust_list; /* get_robust_list(2), or 0 */
};

/* What a thread begins with (thread.c); its floating-point state is in fpu_area. */
struct thread_start {
	u32 ready;   /* last: all else is there */
	u32 signals; /* of the channel's, those before this one are for the thread before */
	struct frame frame;
	u64 fs_base, gs_base;
};

/* fork.c: what another CPU makes a process of, while this one waits. */
struct offer {
	u64 state;	    /* its number, and whether it is open; last, when all else is there */
	u32 cancelled;	    /* 1: who copies had better stop */
	bool lent;	    /* the memory itself, not a copy: vfork(2) */
	struct space space; /* which is here then, until it is taken, or when it is back */
	u64 clear_tid;	    /* of the new process's thread */
	u64 settid;	    /* where it shall write its pid, or 0 */
	struct frame frame;
	u64 fs_base, gs_base;
};

/* fork.c: what the next program has from the one that becomes it, if its pid is this. */
struct heritage {
	u32 pid;
	struct policy policy;
};

/* counters.c */
struct counters {
	bool due;     /* leave_kernel() has to look at them */
	bool running; /* since 'last' was taken */
	struct lwk_counting told;
	u64 last[LWK_MAX_COUNTERS]; /* what each stood at when its value was brought up to date */
};

struct slot {
	/* entry.S knows the offsets of these. */
	struct slot *self;
	u64 user_rsp;
	u64 kernel_rsp;

	u32 index; /* of the slot */
	u32 node;
	struct cpu *cpu;
	struct slot *next; /* of the same CPU, in a ring */
	struct lwk_channel *channel;
	struct lwk_control *control;
	struct lwk_cpu_status *status;

	/* The channel's counts, kept where nobody else can write. */
	u32 sent;
	u32 received;
	u32 next_id;
	u32 signals_taken;
	u64 spin; /* TSC cycles to look for a packet before halting */

	u32 tsc_khz;
	u64 ns_per_cycle; /* for that tsc_khz, in units of 2^-32 */
	u64 start_tsc;	  /* when its present thread started, and later by the turns of others */
	u64 stopped_tsc;  /* when the last of those began */
	bool running;	  /* it has a thread */
	void *fpu_area;	  /* fpu_size() bytes to move floating-point state through */

	/* schedule.c: what its thread waits for, if it does. */
	bool (*ready)(const struct slot *slot);
	u64 deadline;
	/* … and what it goes on with, while others have their turn. */
	u64 rsp, root, fs_base, gs_base;
	void *fpu_switched;

	struct process *process; /* NULL: none */
	struct thread thread;
	struct waiter *waiter; /* what its thread waits in, if it does; futex.c */
	u32 parked;	       /* 1: has a process, and no thread: who sets it to 0 may start one */
	struct thread_start start;
	u64 offers;   /* so far */
	u32 parent;   /* slot whose offer this one has taken */
	u64 borrowed; /* number of that offer, if its memory is to be given back; or 0 */
	u64 settid;   /* of that offer */
	struct offer offer;
	struct heritage heritage;
	struct process own; /* that of which it is the first CPU */
};

/* A CPU, by the index that lwkshared.h gives it. */
struct cpu {
	u32 index;
	u32 n_busy;	      /* its slots that have a process */
	struct slot *current; /* whose turn it is */
	struct slot *
		interrupted; /* whose turn comes before that of others: it was not at its end; or NULL */
	u32 sleeps;	     /* 1: only an interrupt makes it look */
	u64 tlb_seen;	     /* the current process's tlb_generation that its TLB has followed */
	struct counters counters;
	u64 gdt[11];
	struct tss tss;
};

static inline struct slot *this_slot(void)
{
	struct slot *slot;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(slot));
	return slot;
}

static inline struct process *this_process(void)
{
	return this_slot()->process;
}

static inline struct thread *this_thread(void)
{
	return &this_slot()->thread;
}

/* Has the proxy passed on a signal for its thread or process? */
static inline bool signal_comes(const struct slot *slot)
{
	return LOAD_ACQUIRE(slot->channel->signals.head) != slot->signals_taken;
}

static inline void *phys_to_virt(u64 phys)
{
	return (void *)(LWK_DIRECT_MAP + phys);
}

static inline u64 virt_to_phys(const void *virt)
{
	return (u64)virt - LWK_DIRECT_MAP;
}

static inline void spin_lock(struct spinlock *lock)
{
	while (__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE))
		while (READ_ONCE(lock->locked))
			cpu_relax();
}

static inline void spin_unlock(struct spinlock *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

/* main.c */
extern struct lwk_boot_params *boot;
extern struct lwk_status *status;
extern u64 boot_tsc; /* when the first CPU came in */
/* Is 'option' one of the words of the kernel command line (Args= in lwk.conf)? */
bool boot_option(const char *option);
/* What a CPU does without a process: waits for one. */
void slot_loop(void) __attribute__((noreturn));
struct slot *slot_at(u32 index);
struct cpu *cpu_at(u32 index);

/* schedule.c */
/*
 * Lets others go on, or halts, until ready(), which looks at the memory that the kernel and Linux
 * share, and must become true before the doorbell that announces it.
 */
void slot_sleep(bool (*ready)(const struct slot *slot));
/* … or until that time on the monotonic clock. */
void slot_sleep_until(bool (*ready)(const struct slot *slot), u64 deadline);
/* Makes another one look, whose ready() has become true. */
void slot_wake(const struct slot *slot);
/* Lets another thread of this CPU go on, if one can. */
void slot_yield(void);
/* Is there one? */
bool slot_others_wait(void);
/* Lets others of this CPU do what cannot wait, if there is any. */
void slot_see_to_others(void);
/* Sleeps for as long as Linux wants the process of this slot to stand still. */
void slot_freeze(void);

/* entry.S */
void enter_user(const struct frame *frame) __attribute__((noreturn));
/* Forgets everything on this CPU's kernel stack and calls slot_loop(). */
void restart_slot(void) __attribute__((noreturn));
void syscall_entry(void);
extern u8 exception_stubs[];

/* cpu.c */
void cpu_setup(struct cpu *cpu, u64 stack_top);
void apic_eoi(void);
void apic_send(u32 apicid, u32 vector);
/* One interrupt of this CPU after about so many nanoseconds, a second at most; 0: none. */
void apic_timer(u64 ns);
/* Bytes that fpu_save() writes; 64-byte aligned. */
size_t fpu_size(void);
void fpu_reset(void);
void fpu_save(void *area);
/* Loads what user code may have made up: invalid parts are replaced by initial state. */
void fpu_load(void *area);

/* trap.c */
void trap(struct frame *frame);
/* What is due before user code runs (again): orders, signals. */
void before_user(struct frame *frame);
/* The last thing before user code runs, or a halt: interrupts are answered again. */
void leave_kernel(void);

/* pages.c */
void pages_init(void);
/* Zeroed and never freed, physically contiguous; for boot. Panics when there is none. */
void *kernel_boot_alloc(size_t size);
/* One zeroed page of the kernel's pool, or NULL. */
void *kernel_page_alloc(void);
void kernel_page_free(void *page);
/* A zeroed 4 KB or 2 MB page for a process, near NUMA node 'node'; 0 when there is none. */
u64 user_page_alloc(struct choice choice);
u64 user_large_alloc(struct choice choice);
u32 user_page_node(u64 phys);
/* … as another process left it, for who overwrites all of it. */
u64 user_page_take(struct choice choice);
u64 user_large_take(struct choice choice);
/* What is not taken, bytes. */
u64 user_free_bytes(void);
/* What this CPU's process has; tells Linux. */
void user_pages_publish(const struct space *space);
/* The first CPU of another process has from now on what that of 'from' had. */
void pages_hand_over(struct slot *from, struct slot *to);
/* A large page is from now on mapped as small ones. */
void user_large_split(u64 phys);
/* A 2 MB page may be freed as a whole, or in 4 KB pages. */
void user_page_free(u64 phys);
void user_large_free(u64 phys);

/* space.c */
/* Once, on the page tables that lwkpart.ko made. */
void space_setup(void);
int space_init(struct space *space);
void space_destroy(struct space *space);
void space_activate(const struct space *space);
/* Back to the page tables that no process owns. */
void space_leave(void);
/*
 * Makes an anonymous mapping and returns its address: where space is (ANYWHERE), at
 * 'addr' if that is free (EXACT: -EEXIST), or there whatever it replaces (REPLACE).
 * -ENOMEM also for more than the partition has; -EINVAL.
 */
enum placement { MAP_ANYWHERE, MAP_EXACT, MAP_REPLACE };
s64 space_map(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement);
/* … of what can be shared, as mmap(2) has it; 0: the pages of this file cannot. */
s64 space_map_shared(struct space *space, u64 addr, u64 size, u32 prot, enum placement placement,
		     u64 flags, u64 fd, u64 offset);
s64 space_unmap(struct space *space, u64 addr, u64 size);
s64 space_protect(struct space *space, u64 addr, u64 size, u32 prot);
/* Gives the pages back and keeps the mapping (madvise MADV_DONTNEED). */
s64 space_discard(struct space *space, u64 addr, u64 size);
/* mremap(2) without MREMAP_FIXED: the new address, or -ENOMEM, -EFAULT, -EINVAL. */
s64 space_resize(struct space *space, u64 addr, u64 old_size, u64 new_size, bool may_move);
/* brk(2): the heap's end afterwards. */
u64 space_set_brk(struct space *space, u64 brk);
/*
 * Makes the page at addr present. 0; -EFAULT: not allowed there; -EIO: allowed, but Linux has no
 * such page; -ENOMEM.
 */
int space_fault(struct space *space, u64 addr, bool write, bool exec);
/* The same without asking Linux: -EFAULT for pages of Linux's. */
int space_fault_here(struct space *space, u64 addr, bool write);
/* Does others' memory lie at addr? */
bool space_is_shared(struct space *space, u64 addr);
/*
 * New pages of it come as 'policy' says from now on. -EFAULT: not all of it is mapped; -EIO, if 'strict':
 * and some of it is elsewhere.
 */
s64 space_set_policy(struct space *space, u64 addr, u64 size, const struct policy *policy,
		     bool strict);
/* That of the area at addr, if it has one: 0 or -EFAULT. */
s64 space_policy(struct space *space, u64 addr, struct policy *policy);
/* The NUMA node of what space_hold() holds, or -EFAULT if that is Linux's. */
s64 space_node_held(struct space *space, u64 addr);
/* Tells the proxy what is mapped where. 0, or what it says against it. */
s64 space_tell(struct space *space);
/* What is mapped there is a copy of that file, or the file itself, by the proxy's number. */
void space_set_file(struct space *space, u64 addr, u64 size, u32 file, u64 offset);
/* Is each page of it in some mapping? */
bool space_is_mapped(struct space *space, u64 addr, u64 size);
/* Makes all of [addr, addr+size) present, as far as memory goes. */
int space_populate(struct space *space, u64 addr, u64 size);
/*
 * Direct-map address of addr, faulting its page in; it stays there until space_release().
 * NULL, and no release, when it is not allowed.
 */
void *space_hold(struct space *space, u64 addr, bool write);
/* The same without asking Linux, for who holds another lock: NULL for pages of Linux's, too. */
void *space_hold_here(struct space *space, u64 addr, bool write);
void space_release(struct space *space);
/* No mapping changes from here to space_let_change(); pages may come. */
void space_keep(struct space *space);
void space_let_change(struct space *space);
/*
 * Fills an empty space with a copy of what is in 'from', which is kept (space_keep()). 0; -ENOMEM;
 * -EINTR: stop() says so. What has been copied by then is 'to''s to give back.
 */
int space_copy(struct space *to, struct space *from, bool (*stop)(void));
/* Is anything of it others' memory? With nobody changing it. */
bool space_has_shared(const struct space *space);
/* 'to' is what 'from' was, and 'from' is nothing. No CPU may be using either. */
void space_move(struct space *to, struct space *from);
/* This CPU goes on with the space of its process, which others may have changed. */
void space_resume(struct space *space);
/* Makes this CPU's TLB forget what others have changed. */
void space_follow(struct space *space);

/* share.c */
/* Has the proxy map a file at addr. 0; 1: its pages cannot be shared; or a negative error. */
s64 share_begin(u64 addr, u64 size, u32 prot, u64 flags, u64 fd, u64 offset);
/* Where pages from addr on are: how many could be had, 1 at least, or a negative error. */
s64 share_pin(u64 addr, u64 count, bool writable, const __u64 **pages);
/* No CPU uses the pages of the range any more. */
void share_end(u64 addr, u64 size);
/* … and will use them otherwise from now on: 0, or the error of mprotect(2). */
s64 share_protect(u64 addr, u64 size, u32 prot);

s64 sys_shmat(struct frame *frame);
s64 sys_shmdt(struct frame *frame);

/* policy.c */
struct choice policy_choice(const struct policy *policy, u64 addr);
s64 sys_set_mempolicy(struct frame *frame);
s64 sys_get_mempolicy(struct frame *frame);
s64 sys_mbind(struct frame *frame);

/* user.c: 0 or -EFAULT */
int copy_from_user(void *to, u64 from, size_t size);
int copy_to_user(u64 to, const void *from, size_t size);

/* channel.c */
void channel_reset(void);
/* Asks the proxy and waits for its reply. Returns the reply's result. */
s64 channel_request(u64 nr, const u64 args[6]);
void channel_notice(u64 nr, u64 arg0, u64 arg1);
/* Waits for a request of the proxy. Like channel_request(), does not return when the
   order to have a process is withdrawn meanwhile. */
void channel_receive(struct lwk_packet *packet);
void channel_reply(u32 id, s64 result);
/* Takes a signal that the proxy has passed on, and of which all is the user's to choose; if there is one. */
bool channel_take_signal(struct lwk_signal *signal);
/* LWK_CALL_SIGNAL: 0 or a negative error. */
s64 channel_send_signal(const struct lwk_signal *signal);
/* Answers lwkpart.ko if it waits for a page. */
void channel_serve_fault(void);
/* Does it still have its process? */
bool channel_ordered(const struct slot *slot);
/* Does lwkpart.ko wait for a page? */
bool channel_fault_waits(const struct slot *slot);

/* process.c */
void process_run(void) __attribute__((noreturn));
/* Ends the process, all threads of it, with a status as wait(2) has it. */
void process_exit(int wait_status) __attribute__((noreturn));
/* … without a word to its proxy, which is mad. */
void process_kill(void) __attribute__((noreturn));
/* Takes the process off this CPU when its proxy is gone; waits for that. */
void process_abandon(void) __attribute__((noreturn));
/* Makes the other CPUs of the process look at what has changed. */
void process_kick(struct process *process);

/* clone(2) */
#define CLONE_VM 0x100UL
#define CLONE_FS 0x200UL
#define CLONE_FILES 0x400UL
#define CLONE_SIGHAND 0x800UL
#define CLONE_VFORK 0x4000UL
#define CLONE_THREAD 0x10000UL
#define CLONE_SYSVSEM 0x40000UL
#define CLONE_SETTLS 0x80000UL
#define CLONE_PARENT_SETTID 0x100000UL
#define CLONE_CHILD_CLEARTID 0x200000UL
#define CLONE_DETACHED 0x400000UL
#define CLONE_CHILD_SETTID 0x1000000UL

/* thread.c */
void thread_init(struct thread *thread, u32 tid);
/* A CPU is given to a process that others run. */
void thread_join(void) __attribute__((noreturn));
/* Waits for a thread to run. */
void thread_park(void) __attribute__((noreturn));
/* Runs what is in this CPU's 'start'. */
void thread_run(void) __attribute__((noreturn));
s64 sys_clone(struct frame *frame);
s64 sys_exit(struct frame *frame);
s64 sys_set_tid_address(struct frame *frame);
s64 sys_set_robust_list(struct frame *frame);

/* fork.c */
/* clone(2) without CLONE_THREAD. */
s64 fork_clone(struct frame *frame);
s64 sys_fork(struct frame *frame);
s64 sys_vfork(struct frame *frame);
s64 sys_execve(struct frame *frame);
s64 sys_execveat(struct frame *frame);
/* Makes this CPU's process, an empty one, a copy of what another offers. 0 or a negative errno. */
s64 fork_adopt(u64 index, u64 number);
/* Runs it. */
void fork_run(void) __attribute__((noreturn));
/* This CPU's process ends: nobody copies from it any more, or will, or has its memory to give back. */
void fork_withdraw(void);
/* Gives the memory of this CPU's process, which nobody uses any more, back if it was lent. */
bool fork_return(void);

/* futex.c */
s64 sys_futex(struct frame *frame);
/* How many were woken. */
u64 futex_wake(u64 addr, u64 count, u32 bitset);
/* What a thread that ends leaves locked, others get (get_robust_list(2)). */
void futex_release_robust(const struct thread *thread);

/* signal.c */
/* A fault of the process itself: cannot be blocked or ignored. */
void signal_fault(struct frame *frame, int signal, int code, u64 addr);
/* Moves what the proxy has passed on into 'pending'. */
void signal_collect(void);
/* … those before 'end' of the channel's; what is for the thread that this slot had is lost. */
void signal_collect_late(u32 end);
/*
 * Linux keeps what is ignored while it is blocked, for rt_sigtimedwait(2). The proxy does not block it, and
 * must be asked to pass it on.
 */
void signal_want_told(u64 blocked);
/* Leaves those that wait with the proxy, for another program. */
void signal_hand_down(void);
bool signal_waiting(void);
/* Is there a signal that ends the process or runs a handler? */
bool signal_effective(void);
/* Other signals are blocked until unsuspend(), or until signal_deliver() has run a handler. */
void signal_suspend(u64 mask);
void signal_unsuspend(void);
void signal_deliver(struct frame *frame);
s64 signal_return(struct frame *frame);
s64 sys_rt_sigaction(struct frame *frame);
s64 sys_rt_sigprocmask(struct frame *frame);
s64 sys_rt_sigpending(struct frame *frame);
s64 sys_rt_sigtimedwait(struct frame *frame);
s64 sys_rt_sigqueueinfo(struct frame *frame);
s64 sys_rt_tgsigqueueinfo(struct frame *frame);
s64 sys_timer_getoverrun(struct frame *frame);
s64 sys_rt_sigsuspend(struct frame *frame);
s64 sys_pause(struct frame *frame);
s64 sys_sigaltstack(struct frame *frame);
s64 sys_kill(struct frame *frame);
s64 sys_tkill(struct frame *frame);
s64 sys_tgkill(struct frame *frame);

/* pending.c */
/*
 * One more signal waits for this process or thread, unless that changes nothing: of those below
 * SIGRTMIN the first one stays. -EAGAIN: too many wait for another one, and it tells something.
 */
s64 pending_add(struct pending *pending, const struct lwk_signal *signal);
/* Takes the first one, of that number; false: there is none. */
bool pending_take(struct pending *pending, int signal, struct lwk_signal *taken);
/* Forgets those whose bits are set. */
void pending_drop(struct pending *pending, u64 set);
/* The process has ended. */
void pending_end(struct process *process);

/* account.c: this CPU's statistics (struct lwk_cpu_status) */
/* The CPU does something else from now on; returns what it did before. */
u32 account(u32 state);
/*
 * A group's fields may be written between these; for a reader it is all or nothing. x86
 * keeps stores in order, so it is enough to keep the compiler from reordering them.
 */
static inline void group_begin(__u32 *seq)
{
	WRITE_ONCE(*seq, *seq + 1);
	compiler_barrier();
}

static inline void group_end(__u32 *seq)
{
	compiler_barrier();
	WRITE_ONCE(*seq, *seq + 1);
}

/* Into the kernel with interrupts off, and out of it again (lwkshared.h). */
static inline void heartbeat(void)
{
	struct lwk_cpu_status *own = this_slot()->status;

	WRITE_ONCE(own->heartbeat, own->heartbeat + 1);
}

/* Long work in the kernel goes on. */
static inline void still_alive(void)
{
	struct lwk_cpu_status *own = this_slot()->status;

	WRITE_ONCE(own->heartbeat, own->heartbeat + 2);
}

/* counters.c */
/* Once, by the first CPU: what hardware counters there are. All CPUs are alike. */
void counters_inspect(void);
/* Does what Linux may want of this CPU's counters; before the doorbell itself is counted. */
void counters_obey(void);
/* With 'due', when this CPU leaves the kernel: brings the values up to date. */
void counters_update(void);

/* vdso-image.S */
extern const u8 vdso_start[], vdso_end[];

/* clock.c: nanoseconds */
u64 clock_now(enum lwk_clock_kind kind);
u64 clock_monotonic(void);
u64 clock_realtime(void);
u64 clock_cycles_to_ns(u64 cycles);
/* A wait that ends by itself at no time. */
#define NO_DEADLINE (~0UL)
/* The struct timespec there; NO_DEADLINE if it is longer than can be counted. 0, -EFAULT, -EINVAL */
s64 clock_read_time(u64 addr, u64 *ns);

/* syscall.c */
void syscall(struct frame *frame);

/* console.c */
void console_init(void);
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
int format_text(char *buffer, size_t size, const char *format, va_list args);
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* registers.c */
/* Once, by the first CPU; a panic before that leaves no registers. */
void registers_init(void);
/* Those of 'slot', which is this one, for a dump; only the first call of a CPU counts. */
void registers_save(const struct slot *slot, const struct frame *frame);

/* string.c */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *s);

#endif
