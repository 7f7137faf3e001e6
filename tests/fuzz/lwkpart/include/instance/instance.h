/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of the module's header: the members of an instance that the fuzzed files use. */
#ifndef FUZZ_LWKPART_INSTANCE_H
#define FUZZ_LWKPART_INSTANCE_H

#include "kernel.h"

#include "abi/control/dump.h"
#include "abi/control/instance.h"
#include "abi/control/kmsg.h"
#include "abi/shared/boot.h"
#include "abi/shared/channel.h"
#include "abi/shared/console.h"
#include "abi/shared/orders.h"
#include "abi/shared/state.h"
#include "abi/shared/status.h"

struct instance {
	struct rw_semaphore rwsem;
	enum lwk_state state;
	bool stopping;
	unsigned int n_cpus, n_slots;
	struct lwk_boot_cpu cpus[LWK_MAX_CPUS];
	unsigned int n_mem;
	struct lwk_boot_mem mem[4];
	u64 reserve_start, reserve_size;
	unsigned int n_segments;
	struct lwkpart_dump_segment segments[LWKPART_MAX_SEGMENTS];
	struct lwk_status *status;
	struct lwk_console *console;
	struct lwk_control *controls;
	struct {
		u64 logged, read, announced;
	} console_at;
};

#endif
