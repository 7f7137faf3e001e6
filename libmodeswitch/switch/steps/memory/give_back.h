/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives memory back to Linux.
 */
#ifndef MEMORY_GIVE_BACK_H
#define MEMORY_GIVE_BACK_H

#include <json-c/json.h>

#include "modeswitch/error.h"
#include "switch/steps/step.h"

/*
 * Undoes one entry of the journal. It names one block; or none, and then it stands for the runs,
 * whose addresses only the ledger knows.
 */
int give_back_memory(struct switching *switching, struct json_object *entry, struct ms_error *err);

/* Gives back the runs of memory that no instance has. */
int give_back_runs(struct switching *switching, struct ms_error *err);

#endif
