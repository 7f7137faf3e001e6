/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open file of /dev/lwk/N and the LWK process it may have; for process.c and serve.c.
 *
 * The partition's memory, shared areas included, may go back to Linux while a file is
 * still open. Who looks at it does so with rwsem held and the state RUNNING, or with
 * process->lock held and process->channel not NULL.
 */
#ifndef LWKPART_PROCESS_H
#define LWKPART_PROCESS_H

#include "internal.h"

struct lwk_process {
	struct instance *instance;
	struct list_head link;	       /* instance->files */
	struct address_space *mapping; /* what this file maps */
	struct mutex fault_mutex;      /* one request for a page at a time */
	spinlock_t lock;	       /* protects 'channel' */
	struct lwk_channel *channel;   /* NULL: no process, or revoked */
	int index;		       /* LWK CPU, or -1; under instance->process_mutex */
	struct pid *proxy;	       /* with index: the proxy */
	struct mutex charge_mutex;     /* protects 'charge' */
	struct charge charge;
	/* Of the proxy's main thread, which alone serves. */
	unsigned int spin_ns;	   /* how long to look for a packet before sleeping */
	unsigned long next_charge; /* jiffies */
	u64 served;		   /* calls done in the kernel */
};

/* Does the LWK serve its processes? With rwsem held. */
static inline bool serves(struct instance *instance)
{
	return state_has_processes(instance_state(instance));
}

/* Has this file a process that the LWK knows? With rwsem held, and index not -1. */
static inline bool has_process(const struct lwk_process *process)
{
	struct instance *instance = process->instance;

	return serves(instance) && READ_ONCE(instance->processes[process->index]) == process;
}

/* serve.c */
void serve_init(void);
/* LWK_SERVE and LWK_DOORBELL, with their errors. */
long serve(struct lwk_process *process, struct lwk_serve __user *arg);
long serve_doorbell(struct lwk_process *process);

#endif
