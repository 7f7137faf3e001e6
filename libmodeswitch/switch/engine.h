/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the steps of a table, and undoes what the journal says of them.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "modeswitch/error.h"
#include "switch/steps/step.h"

/* Does them in order; stops at the first that fails, and at a signal or the deadline. */
int steps_run(const struct step *const *steps, struct switching *switching, struct ms_error *err);

/*
 * Undoes what the journal says, newest first, and goes on after a failure. The error tells the
 * first one: what it was about is still lent.
 */
int steps_undo(const struct step *const *steps, struct switching *switching, struct ms_error *err);

#endif
