// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/table.h"

#include <stddef.h>

/*
 * None overlaps another. CPUs and memory blocks cannot: Linux does one such thing at a time (its
 * device_hotplug_lock), so two would only take turns. Contiguous runs could, but on the test bed
 * CPUs and a run at once took no less time than one after the other.
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
