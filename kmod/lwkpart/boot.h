/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting and stopping the LWK of an instance. */
#ifndef LWKPART_BOOT_H
#define LWKPART_BOOT_H

#include "instance/instance.h"

/* Starts the CPUs of a LOADED instance: 0 or a negative error. With lwkpart_mutex held. */
int boot_start(struct instance *instance, const char *cmdline);
/*
 * Waits after boot_start() until the LWK runs, without lwkpart_mutex. Returns 0 or the error
 * that LWKPART_BOOT answers.
 */
int boot_wait(struct instance *instance, u32 timeout_ms);
/*
 * Enters SHUTDOWN and stops the CPUs, whatever they execute; the LWK need not answer. The caller
 * does not hold lwkpart_mutex: this may take a second, for which nobody else must wait.
 */
void boot_stop(struct instance *instance);

#endif
