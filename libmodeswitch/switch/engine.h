/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the steps of a table, and undoes what the journal says of them.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "modeswitch/error.h"
#include "switch/steps/step.h"

/*
 * Runs the steps in order, each after its entry in the journal. -1 at the first step that fails,
 * at a signal, or at the deadline; nothing is undone then.
 */
int steps_run(const struct step *const *steps, struct switching *switching, struct ms_error *err);

/*
 * Undoes every entry of the journal, newest first, and goes on after a failure; then has each step
 * check that nothing is left. -1: something is still lent, and the error tells the first failure.
 */
int steps_undo(const struct step *const *steps, struct switching *switching, struct ms_error *err);

#endif
