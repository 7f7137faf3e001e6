/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of an LWK process: it begins, gets threads and other programs, and ends. */
#ifndef LWKPART_PROCESS_H
#define LWKPART_PROCESS_H

#include "abi/device/process.h"
#include "process/thread/thread.h"

/* LWK_PROC_CREATE and LWK_THREAD_CREATE: 0, or their errors. Take rwsem. */
long process_create(struct lwk_process *process, struct lwk_proc_create *create);
long process_add_thread(struct lwk_process *process, struct lwk_thread_create *create);
/* Ends the process, if there is one. Returns how many processes the instance still has. */
unsigned int process_end(struct lwk_process *process);
/*
 * Ends all processes of an instance that no longer runs and takes its memory out of every
 * proxy, so that the memory can be given back. Call it after the state has changed and before
 * the CPUs are stopped.
 */
void processes_revoke(struct instance *instance);
/* Releases what processes were granted, after the instance's CPUs have been stopped. */
void processes_release(struct instance *instance);

#endif
