/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets to and from the proxy, and what lwkpart.ko orders beside them. */
#ifndef LWK_PROXY_CHANNEL_H
#define LWK_PROXY_CHANNEL_H

#include "abi/shared/calls.h"
#include "abi/shared/channel.h"
#include "lwk/base/types.h"
#include "lwk/process/slot.h"

void channel_reset(void);
/*
 * Asks the proxy, waits for its reply and returns the reply's result. Does not return when the
 * order to have a process is withdrawn meanwhile; neither does channel_receive().
 */
s64 channel_request(u64 nr, const u64 args[6]);
/* Does channel_request() with up to six arguments, and counts the call by enum lwk_call_kind. */
#define channel_call(about, nr, ...)                                                               \
	channel_call_counted(LWK_CALLS_##about, nr, (const u64[6]){ __VA_ARGS__ })
s64 channel_call_counted(enum lwk_call_kind about, u64 nr, const u64 args[6]);
/* Tells the proxy something, with up to six arguments. There is no reply. */
#define channel_notice(nr, ...) channel_send_notice(nr, (const u64[6]){ __VA_ARGS__ })
void channel_send_notice(u64 nr, const u64 args[6]);
/* Waits for a request of the proxy. */
void channel_receive(struct lwk_packet *packet);
void channel_reply(u32 id, s64 result);
/*
 * Takes a signal that the proxy has passed on, if there is one; its contents are the user's choice.
 */
bool channel_take_signal(struct lwk_signal *signal);
/* LWK_CALL_SIGNAL: 0 or a negative error. */
s64 channel_send_signal(const struct lwk_signal *signal);
/* Answers lwkpart.ko if it waits for a page. */
void channel_serve_fault(void);

/* True while the slot is ordered to have its process. */
static inline bool channel_ordered(const struct slot *slot)
{
	return LOAD_ACQUIRE(slot->control->order) != LWK_ORDER_NONE;
}

/* True while lwkpart.ko waits for a page. */
static inline bool channel_fault_waits(const struct slot *slot)
{
	return LOAD_ACQUIRE(slot->control->fault_state) == LWK_FAULT_ASKED;
}

/* True when the slot's thread must look, for lwkpart.ko's page or because its process is over. */
static inline bool channel_disturbs(const struct slot *slot)
{
	return !channel_ordered(slot) || channel_fault_waits(slot);
}

/* True when the proxy has passed on a signal that the slot has not taken yet. */
static inline bool signal_comes(const struct slot *slot)
{
	return LOAD_ACQUIRE(slot->channel->signals.head) != slot->signals_taken;
}

#endif
