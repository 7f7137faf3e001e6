/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls about CPUs. */
#ifndef LWK_CALLS_CPUS_H
#define LWK_CALLS_CPUS_H

#include "lwk/base/types.h"
#include "lwk/machine/frame.h"

s64 sys_sched_getaffinity(struct frame *frame);
s64 sys_sched_setaffinity(struct frame *frame);
s64 sys_sched_setscheduler(struct frame *frame);
s64 sys_sched_setparam(struct frame *frame);
s64 sys_sched_getscheduler(struct frame *frame);
s64 sys_sched_yield(struct frame *frame);
s64 sys_membarrier(struct frame *frame);
s64 sys_getcpu(struct frame *frame);

#endif
