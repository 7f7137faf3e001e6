/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls about time. */
#ifndef LWK_CALLS_TIME_H
#define LWK_CALLS_TIME_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

s64 sys_clock_gettime(struct frame *frame);
s64 sys_clock_getres(struct frame *frame);
s64 sys_gettimeofday(struct frame *frame);
s64 sys_time(struct frame *frame);
s64 sys_getrusage(struct frame *frame);
s64 sys_times(struct frame *frame);
s64 sys_clock_nanosleep(struct frame *frame);

#endif
