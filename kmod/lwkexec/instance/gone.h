/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message to the user when the instance has stopped under a program. */
#ifndef LWKEXEC_GONE_H
#define LWKEXEC_GONE_H

/*
 * Says in which state the instance of 'device' is, prints the end of its console after a panic or a
 * hang, and ends the proxy.
 */
void fail_with_state(int device) __attribute__((noreturn));

#endif
