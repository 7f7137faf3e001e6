/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An LWK instance, its reference count, and wake-ups of those who serve it.
 *
 * Locks, outermost first: lwkpart_mutex (lending/ledger.h); instance->life; instance->rwsem
 * protects the state against the users of /dev/lwk/N, who hold it for reading while they rely on
 * RUNNING; the mutex of a server, with which nobody waits for the locks before it;
 * instance->process_mutex protects what processes and slots have of each other;
 * instance->files_mutex.
 */
#ifndef LWKPART_INSTANCE_H
#define LWKPART_INSTANCE_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "abi/control/dump.h"
#include "abi/control/instance.h"
#include "abi/shared/boot.h"
#include "abi/shared/counters.h"
#include "abi/shared/state.h"
#include "abi/shared/status.h"
#include "instance/clock.h"
#include "instance/confine.h"
#include "instance/event.h"

struct cred;
struct lwk_thread;

/* server/server.c */
struct server {
	struct instance *instance;
	atomic_t wanted; /* threads that want the mutex */
	bool led;	 /* a thread serves the clients; written with the mutex held */
	/* Protects the rest; the leader holds it while it serves and looks. */
	struct mutex mutex;
	struct list_head clients;
	unsigned int spin_ns;
	u64 since; /* when the leader read the clock after the last call (ns); 0: not since */
	const struct cred *own; /* the leader's credentials while it acts with others, or NULL */
};

struct instance {
	unsigned int id; /* N of /dev/lwk/N */
	kuid_t uid;
	u32 job_id;
	bool proxy_calls; /* LWKPART_CREATE_PROXY_CALLS */
	bool limited;	  /* LWKPART_CREATE_LIMITED */
	bool destroyed;	  /* open files may only ask how it ended; written once */
	struct kref kref; /* held by the control device and by each open file */

	/* boot.c */
	/*
	 * Held while the CPUs are started and stopped, and for a dump, which asks them for their
	 * registers and reads the reserve. A holder of lwkpart_mutex takes it only of an instance
	 * that is not booted yet or is shut down: then nobody waits for CPUs with it.
	 */
	struct mutex life;
	bool stopping;	  /* nobody waits for the LWK any more; written once */
	bool keeps_pages; /* window_revoke(): nor for pages of files; written once */
	struct {
		unsigned long debt, counted; /* jiffies waited, and when that was counted */
	} slow;				     /* window_revoke() */

	/* state.c */
	struct rw_semaphore rwsem; /* protects 'state' and 'message' */
	enum lwk_state state;	   /* written by instance_set_state() only */
	s64 since_ns;		   /* realtime at which 'state' was reached */
	char message[LWKPART_MESSAGE_LEN];

	/* The partition. */
	unsigned int n_cpus;
	unsigned int n_slots; /* for threads (lwkshared.h); valid once LOADED */
	struct lwk_boot_cpu cpus[LWK_MAX_CPUS];
	unsigned int n_mem;
	struct lwk_boot_mem mem[LWK_MAX_MEM]; /* largest first once LOADED */

	/* reserve.c: the LWK kernel's own memory (lwkshared.h), where the LWK cannot change it */
	u64 reserve_start, reserve_size;
	u64 reserve_used; /* bytes of it that were in use before the LWK began */
	unsigned int n_segments;
	struct lwkpart_dump_segment segments[LWKPART_MAX_SEGMENTS]; /* the image's parts */
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

	/* doorbell.c, an element for each CPU */
	struct {
		unsigned int target[LWK_MAX_CPUS]; /* the Linux CPU that gets its doorbells */
		int irq[LWK_MAX_CPUS]; /* 0: none; CPUs with the same target share one */
	} doorbells;

	/* counters.c */
	struct {
		struct mutex mutex;
		struct lwk_counting told; /* copy of params->counting that the LWK cannot change */
	} counters;

	struct clock_published clock_published;
	struct confinement confinement;
	struct events events;

	/* console.c: positions in the console's text */
	struct {
		u64 logged;    /* end of what is in Linux's log */
		u64 read;      /* end of what any reader has read */
		u64 announced; /* where LWK_EVENT_CONSOLE was sent last */
		/* watch.c: lines that went to the log since then, and that were too many */
		unsigned long log_since;
		unsigned int log_lines, left_out;
	} console_at;

	/* watch.c; times are jiffies */
	struct {
		struct delayed_work work;
		unsigned int hang_ms;
		unsigned long looked;
		struct {
			u64 beat;	      /* the heartbeat when it changed last */
			unsigned long silent; /* time that has been watched since */
		} health[LWK_MAX_SLOTS];
		u64 out_of_memory; /* processes killed so far */
	} watch;

	/* process/; under process_mutex */
	struct mutex process_mutex;
	struct lwk_thread *threads[LWK_MAX_SLOTS]; /* the thread of each slot, or NULL */
	/* No slot from here on has a thread. Doorbells look at the slots before it, without the mutex. */
	unsigned int slots_end;
	unsigned int n_processes;
	bool stopped;		   /* its CPUs have been stopped */
	struct list_head stranded; /* grants of processes that ended before that (grant.c) */

	/*
	 * A lock apart from process_mutex, whose holder may wait for the LWK: opening the device
	 * must not.
	 */
	struct mutex files_mutex;
	struct list_head files; /* every open file of /dev/lwk/N */

	wait_queue_head_t wait[LWK_MAX_SLOTS]; /* the proxy of each slot */

	/* An element for each LWK CPU; those with the same doorbell target use the first one's. */
	struct server servers[LWK_MAX_CPUS];

	/* process/device.c */
	char name[sizeof("lwk") + 10]; /* of the interrupts, too */
	struct device device;	       /* holds a reference to the instance */
	struct cdev cdev;
};

void instance_get(struct instance *instance);
void instance_put(struct instance *instance);

/*
 * After the LWK's doorbell: wakes the tasks that wait for the slot. Any context, while there are
 * channels.
 */
void instance_wake_proxy(struct instance *instance, unsigned int slot);
/* Wakes the tasks that wait there, with this key: a packet has come. Any context. */
#define INSTANCE_MAIL ((void *)1)
void instance_wake_for_mail(wait_queue_head_t *wait);
/* Wakes all proxies; call it after a change of state. */
void instance_wake_proxies(struct instance *instance);
/* Runs the watch (watch.c) after so many jiffies. Any context. */
void instance_wake_watch(struct instance *instance, unsigned long delay);

#endif
