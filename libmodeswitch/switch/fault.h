/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that root orders, so that a test can have a switch fail, hang or die at any moment. An
 * order is one line in the file "fault" of the state directory:
 *   on|off|keep|adopt STEP before|after fail|hold|kill
 * "on" is the step's run, "off" its undo; "keep" and "adopt" have parts instead (warm.h). The order
 * is carried out once: its file becomes "fault.met". With "hold" the switch stands still, whatever
 * its deadline, until somebody removes that file.
 *
 * The orders are always compiled in: what is tested is what nodes run. Only root can write the
 * directory, and without an order a step costs one open(2).
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

#include "modeswitch/error.h"

#define FAULT_MET_FILE "fault.met"

/* Carries out the order for this moment, if there is one. 0; or -1 when the order is "fail". */
int fault_at(const char *direction, const char *step, const char *when, struct ms_error *err);

/* Removes orders, carried out or not; a switch that stands still goes on. True if there was one. */
bool fault_forget(void);

#endif
