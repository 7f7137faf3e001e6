/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/calls/delegate.h"

#include <linux/errno.h>

#include "abi/shared/calls.h"
#include "abi/shared/linux_calls.h"
#include "lwk/memory/areas.h"
#include "lwk/memory/user.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/wait.h"

/* Signals that are blocked or ignored end no call on Linux, but they end the proxy's call. */
static s64 request(u64 nr, const u64 args[6])
{
	s64 result = channel_request(nr, args);

	while (result == -EINTR && (signal_collect(), !signal_effective()))
		result = channel_request(nr | LWK_CALL_AGAIN, args);
	return result;
}

/* Returns the address of the signals that the call blocks while it waits; 0: the call has none. */
static u64 mask_address(const struct frame *frame)
{
	u64 pair[2];

	switch (frame->error) {
	case __NR_ppoll:
		return frame->r8 == sizeof(u64) ? frame->r10 : 0;
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return frame->r9 == sizeof(u64) ? frame->r8 : 0;
	case __NR_pselect6:
		if (frame->r9 && !copy_from_user(pair, frame->r9, sizeof(pair)) &&
		    pair[1] == sizeof(u64))
			return pair[0];
		return 0;
	default:
		return 0;
	}
}

/* Blocks the call's signals until it ends, or the handler of the signal that ended it does. */
static s64 request_masked(struct frame *frame, const u64 args[6])
{
	u64 address = mask_address(frame), mask;
	s64 result;

	if (!address || copy_from_user(&mask, address, sizeof(mask)))
		return request(frame->error, args);
	signal_suspend(mask);
	result = signal_effective() ? -EINTR : request(frame->error, args);
	if (result != -EINTR)
		signal_unsuspend();
	return result;
}

s64 call_delegate(struct frame *frame, enum lwk_call_kind about, bool restarted)
{
	u64 args[6] = { frame->rdi, frame->rsi, frame->rdx, frame->r10, frame->r8, frame->r9 };
	s64 result = request_masked(frame, args);

	this_slot()->status->delegated_calls[about]++;
	if (result == LWK_RESULT_AREAS) {
		result = space_tell(&this_process()->space);
		if (!result)
			result = request_masked(frame, args);
	}
	if (frame->error == __NR_signalfd || frame->error == __NR_signalfd4)
		signal_hold();
	this_thread()->interrupted = result == -EINTR && restarted;
	return result;
}
