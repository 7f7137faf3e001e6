/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection to an LWK instance: its device, the LWK process there that this process stands
 * for, and the slots of its threads.
 */
#ifndef LWKEXEC_SESSION_H
#define LWKEXEC_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/shared/channel.h"
#include "abi/shared/status.h"
#include "lwkexec/base/numbers.h"

struct session {
	int device;
	const struct lwk_status *status;
	struct lwk_channel *channel; /* of the process's first thread */
	size_t status_bytes;
	uint32_t index; /* slot of the process's first thread */
	uint32_t cpus;	/* LWK CPUs of the instance */
	uint32_t serve; /* flags of LWK_SERVE: calls that lwkpart.ko does not leave to the proxy */
};
extern struct session session;

/* The LWK thread that the calling thread stands for. */
struct own {
	struct lwk_channel *channel; /* NULL: none yet */
	uint32_t index;		     /* its slot */
	int child_waits; /* -1, or a pipe that ends when the child of a vfork(2) frees its parent */
	bool newborn;	 /* a child just forked: the request being served was its parent's */
};
extern __thread struct own own;

/* Opens the instance's device and makes an LWK process there; fails the proxy on any error. */
void session_open(const char *device);
/*
 * Does session_open() for an lwkexec that has taken the place of another one by exec (exec.c):
 * 'device' is the open file of that one's session. Fails the proxy on any error.
 */
void session_resume(int device, uint32_t serve);
/*
 * Gives a forked child, which has inherited its parent's session, a session and an LWK process of
 * its own. Returns 0, or a negative errno and there is no session.
 */
int session_renew(void);
/*
 * Ends the LWK process; the session must not be used any more. Returns how many processes the
 * instance still has: of processes that end together, just one gets 0.
 */
int session_close(void);
/* True from the beginning of session_close() on. */
bool session_closed(void);
/*
 * Ends the proxy because the instance does not run any more, and says why; waits for ever in all
 * threads but one, and after session_close().
 */
void session_gone(void) __attribute__((noreturn));
/* Gives the calling thread a slot of its own. Returns 0 or a negative errno. */
int session_add_thread(void);
/* The path of the device, which holds as long as the session is open. */
void session_path(char *path, size_t size);
struct session_cpu {
	uint32_t number, node; /* Linux's */
};
/* Fills in all CPUs of the LWK, in the LWK's order; returns how many there are, 0 without memory. */
uint32_t session_all_cpus(struct session_cpu cpus[LWK_MAX_CPUS]);
/* The CPUs that the LWK's sched_getaffinity(2) tells the process. */
void session_cpus(struct numbers *cpus);
/*
 * The LWK CPU that the calling thread's LWK thread is on: *index is the LWK's number of it, and
 * *linux_cpu is Linux's. False: no memory, or the LWK has ended.
 */
bool session_own_cpu(uint32_t *index, uint32_t *linux_cpu);

#endif
