/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the services that systemd starts on some CPUs and NUMA nodes, by drop-ins below /run.
 */
#ifndef PREPARE_SYSTEMD_H
#define PREPARE_SYSTEMD_H

#include <stdbool.h>

#include "modeswitch/error.h"

bool has_systemd(void);

/* Adds to *changed how many files it has written; writes none that is there already. 0 or -1. */
int keep_by_systemd(const char *cpus, const char *nodes, unsigned *changed, struct ms_error *err);

/* Removes the drop-ins, whether they are there or not. 0 or -1. */
int release_systemd(struct ms_error *err);

#endif
