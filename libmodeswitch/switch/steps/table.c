// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/table.h"

#include <stddef.h>

/*
 * Steps run one after the other. CPUs and memory blocks cannot be taken at once, because Linux's
 * device_hotplug_lock lets one such change happen at a time. CPUs and contiguous runs can, but on
 * the test bed that took no less time.
 */
const struct step *const all_steps[] = {
	&step_module, &step_interrupts, &step_limits,	&step_cpus,   &step_settle,
	&step_memory, &step_sysview,	&step_instance, &step_assign, &step_confine,
	&step_load,   &step_boot,	NULL,
};

const struct step *const warm_steps[] = {
	&step_module,  &step_limits, &step_sysview, &step_instance, &step_assign,
	&step_confine, &step_load,   &step_boot,    NULL,
};
