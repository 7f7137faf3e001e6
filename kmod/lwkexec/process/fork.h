/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fork(2) of an LWK process: the proxy forks, and its child has a new LWK process made for itself,
 * which the LWK makes a copy of the first. So Linux knows the child's number, parent, process group
 * and end.
 */
#ifndef LWKEXEC_FORK_H
#define LWKEXEC_FORK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * LWK_CALL_FORK: makes a child that stands for a copy of the LWK process, which slot 'slot' offers
 * by this number. Returns its pid or a negative errno; in the child 0, and own.newborn is set.
 * 'stack' is the stack pointer of a parent whose memory the child of a vfork(2) has a copy of, else
 * 0.
 */
int64_t fork_process(uint64_t slot, uint64_t number, bool vfork, uint64_t stack);
/*
 * Gives a parent that waits in vfork(2) what its child has changed above 'stack'. To be called with
 * all signals blocked, before this process ends or has another program.
 */
void fork_return(void);
/* LWK_CALL_FORK_WAIT: waits until the child of a vfork(2) has another program or has ended. */
int64_t fork_wait(void);

#endif
