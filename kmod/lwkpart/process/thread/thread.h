/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open file of /dev/lwk/N with the LWK process that it may have, and the process's threads.
 *
 * The partition's memory, shared areas included, may go back to Linux while a file is still
 * open. A reader of that memory holds rwsem in a state that has processes, or holds
 * thread->lock while thread->channel is not NULL.
 */
#ifndef LWKPART_THREAD_H
#define LWKPART_THREAD_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/xarray.h>

#include "instance/instance.h"
#include "instance/state.h"
#include "process/thread/charge.h"

/* A thread of the LWK process: its slot (lwkshared.h), and the proxy's thread that serves it. */
struct lwk_thread {
	struct lwk_process *process;
	struct lwk_thread *next;     /* of the process; written once */
	struct mutex fault_mutex;    /* one request for a page at a time */
	spinlock_t lock;	     /* protects 'channel' */
	struct lwk_channel *channel; /* NULL: none, or revoked */
	int slot;		     /* or -1; under instance->process_mutex */
	bool stuck;		     /* the slot still has the process; under process_mutex */
	struct {
		unsigned long addr; /* of the page that a fault asked for last */
		unsigned int times;
	} asked; /* window.c */
	/*
	 * The Linux thread that serves the slot. NULL for the first slot, which all others serve.
	 */
	struct pid *proxy;
	struct mutex charge_mutex; /* protects 'charge'; after rwsem and process_mutex */
	struct charge charge;
	/* The rest is used by the serving Linux thread only. */
	unsigned int spin_ns;	   /* how long to look for a packet before sleeping */
	unsigned long next_charge; /* jiffies */
	u64 served;		   /* calls carried out in the kernel */
	unsigned int alone;	   /* packets to wait for without a server (served.c) */
	unsigned int debt;	   /* what packets that servers handed back have cost */
	/* The server writes it while it has the channel. */
	u64 by_server; /* calls that servers have made */
	struct {
		u64 number; /* address / PAGE_SIZE */
		void *at;   /* in Linux's direct map */
		bool writable;
		u64 hidings; /* process->hidings when it was found */
	} page;		     /* view.c: the page that a call has named last */
};

struct lwk_process {
	struct instance *instance;
	struct file *file;	    /* whose process it is; it holds the process, not the reverse */
	struct list_head link;	    /* instance->files */
	struct work_struct closing; /* device.c: after the file was closed */
	/*
	 * Each file has its own, so that hiding what is mapped of it costs other processes of the
	 * instance nothing.
	 */
	struct address_space mapping;
	struct pid *proxy;	   /* the Linux process; valid when first.slot is */
	struct rw_semaphore shown; /* held for writing: no page is being shown to the proxy */
	bool hidden;		   /* no page is shown any more; under 'shown' */
	struct xarray shown_parts; /* 2 MB each, of which the WINDOW may show pages */
	u64 hidings;		   /* times that pages were hidden, and one; under 'shown' */
	void *gone_page;	   /* what channels that have gone show; NULL: not needed yet */
	struct mutex grants_mutex; /* protects the next three */
	struct grants *grants;	   /* pages of shared mappings; NULL: none any more */
	bool grants_closed;
	unsigned int grants_generation;
	struct lwk_thread first; /* the list grows only, at its second place */
};

/* True when the LWK serves its processes. With rwsem held. */
static inline bool serves(struct instance *instance)
{
	return state_has_processes(instance_state(instance));
}

/* True when the thread has a slot that answers. With rwsem held, and slot not -1. */
static inline bool has_slot(const struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;

	return serves(instance) && READ_ONCE(instance->threads[thread->slot]) == thread;
}

void thread_init(struct lwk_thread *thread, struct lwk_process *process);
/* The thread that the calling Linux thread serves: its own, or the process's first. */
struct lwk_thread *thread_of_caller(struct lwk_process *process);
/* True when no slot uses anything of the process any more. With process_mutex held. */
bool process_has_let_go(const struct lwk_process *process);

#endif
