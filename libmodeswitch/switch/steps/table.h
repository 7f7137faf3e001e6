/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a switch, in their order.
 */
#ifndef STEPS_TABLE_H
#define STEPS_TABLE_H

#include "switch/steps/step.h"

extern const struct step step_module, step_interrupts, step_limits, step_cpus, step_settle,
	step_memory, step_sysview, step_instance, step_assign, step_confine, step_load, step_boot;

/* All steps; NULL ends the table. */
extern const struct step *const all_steps[];

/* The steps that a switch still has to do when it takes over a warm partition (warm.h). */
extern const struct step *const warm_steps[];

/* A loaded module of another release that has lent nothing makes room for the installed one. */
void module_renew(const char *module);

#endif
