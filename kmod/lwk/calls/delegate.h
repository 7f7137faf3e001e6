/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that Linux does through the proxy. */
#ifndef LWK_CALLS_DELEGATE_H
#define LWK_CALLS_DELEGATE_H

#include "abi/shared/statistics.h"
#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

/*
 * Has the proxy make the call in 'frame', and counts it. 'restarted': after a signal that cut it
 * short, the call is made again where Linux would do so.
 */
s64 call_delegate(struct frame *frame, enum lwk_call_kind about, bool restarted);

#endif
