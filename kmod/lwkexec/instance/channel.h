/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets between the calling thread and the LWK thread that it stands for, and signals that are
 * passed on to that thread (abi/lwkshared.h, struct lwk_channel).
 */
#ifndef LWKEXEC_CHANNEL_H
#define LWKEXEC_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/shared/channel.h"

/* The functions that handle packets from the LWK. */
struct channel_server {
	/*
	 * Carries out a request; returns its result or a negative errno, which becomes the reply.
	 */
	int64_t (*request)(const struct lwk_packet *request);
	void (*notice)(const struct lwk_packet *notice);
};

/* Must be called once per process, before any of the functions below. */
void channel_init(const struct channel_server *server);
/* Serves the calling thread's channel for ever. Ends the proxy when the instance is gone. */
void channel_serve(void) __attribute__((noreturn));
/*
 * Sends a request to the LWK, and serves requests of the LWK until the reply comes. Returns the
 * reply: 0 or more, or a negative errno.
 */
int64_t channel_call(uint64_t nr, const uint64_t args[6]);
/* The number of delegated calls of the calling thread that lwkpart.ko has carried out itself. */
uint64_t channel_served(void);
uint64_t channel_served_by_server(void);

/*
 * Passes on a signal. Async-signal-safe; all signals must be blocked. False: it was the last one
 * for which there was room, and signals must stay blocked until the LWK says that there is room
 * again (LWK_CALL_SIGNALS_TAKEN).
 */
bool channel_signal(const struct lwk_signal *signal);
/* True while signals must stay blocked for want of room. */
bool channel_holds_signals(void);
/* Ends that, if there is room: the LWK has said so. */
void channel_release_signals(void);
/*
 * Takes back the signals that the LWK has not taken, and returns how many. All signals must be
 * blocked, and the LWK thread must be waiting for the calling thread.
 */
size_t channel_take_back(struct lwk_signal signals[LWK_SIGNAL_SLOTS]);

#endif
