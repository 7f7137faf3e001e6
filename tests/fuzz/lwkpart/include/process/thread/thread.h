/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of the module's header: the members of a thread that the fuzzed files use. */
#ifndef FUZZ_LWKPART_THREAD_H
#define FUZZ_LWKPART_THREAD_H

#include "instance/instance.h"

struct lwk_process;

struct lwk_thread {
	struct lwk_process *process;
	spinlock_t lock;
	struct lwk_channel *channel;
	int slot;
	struct {
		u64 number;
		void *at;
		bool writable;
		u64 hidings;
	} page;
};

struct lwk_process {
	struct instance *instance;
	u64 hidings;
	struct lwk_thread first;
};

static inline bool state_has_processes(enum lwk_state state)
{
	return state == LWK_STATE_RUNNING;
}

static inline bool serves(struct instance *instance)
{
	return state_has_processes(instance->state);
}

#endif
