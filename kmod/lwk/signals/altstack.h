/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack that handlers run on if they ask for it (sigaltstack(2)). */
#ifndef LWK_SIGNALS_ALTSTACK_H
#define LWK_SIGNALS_ALTSTACK_H

#include "lwk/base/types.h"

struct thread;

/* Is rsp on the thread's alternate stack? */
bool on_altstack(const struct thread *thread, u64 rsp);

#endif
