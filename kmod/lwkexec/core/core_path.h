/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The place of a core file, by core(5). */
#ifndef LWKEXEC_CORE_PATH_H
#define LWKEXEC_CORE_PATH_H

#include <limits.h>

/*
 * Stores the path of the core file of a program that this signal ends: as core_pattern says, or
 * "core" if it names a program, which only Linux itself can start.
 */
void core_path(char path[PATH_MAX], const char *program, int signal);

#endif
