/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open file of /dev/lwk/N and the LWK process it may have; for process.c and serve.c.
 *
 * The partition's memory, shared areas included, may go back to Linux while a file is
 * still open. Who looks at it does so with rwsem held and the state RUNNING, or with
 * thread->lock held and thread->channel not NULL.
 */
#ifndef LWKPART_PROCESS_H
#define LWKPART_PROCESS_H

#include "internal.h"

/* What serves one slot of a process (lwkshared.h): a thread of the proxy. */
struct lwk_thread {
	struct lwk_process *process;
	struct lwk_thread *next;     /* of the process; written once */
	struct mutex fault_mutex;    /* one request for a page at a time */
	spinlock_t lock;	     /* protects 'channel' */
	struct lwk_channel *channel; /* NULL: none, or revoked */
	int index;		     /* slot, or -1; under instance->process_mutex */
	bool stuck;		     /* that CPU has not let go of the process; likewise */
	struct pid *proxy;	   /* the Linux thread; NULL for the first, which is any other's */
	struct mutex charge_mutex; /* protects 'charge' */
	struct charge charge;
	/* Of the Linux thread that serves, alone. */
	unsigned int spin_ns;	   /* how long to look for a packet before sleeping */
	unsigned long next_charge; /* jiffies */
	u64 served;		   /* calls done in the kernel */
};

struct lwk_process {
	struct instance *instance;
	struct list_head link;	       /* instance->files */
	struct address_space *mapping; /* what this file maps */
	struct pid *proxy;	       /* with first.index: the Linux process */
	struct rw_semaphore shown;     /* written: no page is being shown in the WINDOW */
	bool hidden;		       /* no page is shown any more; under 'shown' */
	struct grants *grants;	       /* pages of shared mappings; NULL: none any more */
	struct mutex grants_mutex;     /* protects them, and: */
	bool grants_closed;
	unsigned int grants_generation;
	struct lwk_thread first; /* the list only grows, at its second place */
};

/* Does the LWK serve its processes? With rwsem held. */
static inline bool serves(struct instance *instance)
{
	return state_has_processes(instance_state(instance));
}

/* Has it a slot that answers? With rwsem held, and index not -1. */
static inline bool has_cpu(const struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;

	return serves(instance) && READ_ONCE(instance->threads[thread->index]) == thread;
}

/* What the calling Linux thread serves: its own slot, or the process's first. */
struct lwk_thread *thread_of_caller(struct lwk_process *process);

/* None of its slots uses anything of it any more. With process_mutex held. */
bool process_has_let_go(const struct lwk_process *process);

/* grant.c */
/* 0 or -ENOMEM */
int grants_create(struct lwk_process *process);
/* LWK_GRANT, with its errors. */
long grants_serve(struct lwk_process *process);
/* From now on the LWK gets no page any more. */
void grants_close(struct lwk_process *process);
/*
 * After that, with process_mutex held: unpins all, now or when the instance's CPUs have been
 * stopped.
 */
void grants_destroy(struct lwk_process *process);
/* … and for another program, whose CPUs have let go of the one before: 0 or -ENOMEM. */
int grants_renew(struct lwk_process *process);
/* The instance's CPUs have been stopped. With process_mutex held. */
void grants_release_stranded(struct instance *instance);

/* serve.c */
void serve_init(void);
/* LWK_SERVE and LWK_DOORBELL, with their errors. */
long serve(struct lwk_thread *thread, struct lwk_serve __user *arg);
long serve_doorbell(struct lwk_thread *thread);

#endif
