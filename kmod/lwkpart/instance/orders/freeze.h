/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stopping the processes of an instance for a while. */
#ifndef LWKPART_FREEZE_H
#define LWKPART_FREEZE_H

#include "abi/device/freeze.h"
#include "instance/instance.h"

/* The reasons for which a process stands still: bits of struct lwk_control.freeze. */
#define FREEZE_INSTANCE 1U
#define FREEZE_PROXY 2U
/*
 * Sets or clears one reason for a slot. With rwsem and process_mutex held, in a state that has
 * processes.
 */
void freeze_slot(struct instance *instance, unsigned int slot, u32 reason, bool frozen);
/* LWK_FREEZE, with its errors. Takes rwsem. */
int freeze_instance(struct instance *instance, const struct lwk_freeze *request);

#endif
