/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A system call that Linux carries out with the LWK process's own arguments. */
#ifndef LWKEXEC_LINUX_CALL_H
#define LWKEXEC_LINUX_CALL_H

#include <stdint.h>

#include "abi/shared/channel.h"

/*
 * Linux's result or a negative errno. When the LWK thread has a signal that it has not taken, a call
 * that may wait is not made, and the result is -EINTR. Another call is made all the same: Linux
 * never interrupts it, and programs do not expect EINTR of it.
 */
int64_t linux_call(const struct lwk_packet *request);

/* ---- interruptible.S ---- */

/*
 * Makes a system call unless a signal waits in 'signals', which are those of the calling thread's
 * channel: then INTERRUPTIBLE_GIVEN_UP, which is no result of Linux's.
 */
int64_t interruptible_syscall(uint64_t nr, const uint64_t args[6],
			      const struct lwk_signals *signals);
#define INTERRUPTIBLE_GIVEN_UP (-513)
/*
 * A handler of a signal that finds an instruction pointer from _start up to _end sets it to
 * _give_up, because the call has not begun and would miss the signal.
 */
extern const char interruptible_start[], interruptible_end[], interruptible_give_up[];
/* The address that a handler returns to when it was registered without libc. */
extern const char signal_restorer[];

#endif
