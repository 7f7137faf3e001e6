/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/self, as the LWK process sees itself. Linux's shows the proxy: name, ids and descriptors
 * are the process's too, memory and CPUs are not. uname(2) names the LWK.
 */
#ifndef LWKEXEC_SELF_H
#define LWKEXEC_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "lwkexec/program/program.h"

/* Gives the proxy the program's name. The program's strings must stay. */
void self_init(const struct program *program);
/* True when 'path' is a file under /proc/self that programs on the LWK do not have. */
bool self_hides(const char *path);
/*
 * True when 'path' is a file under /proc/self that is another one on the LWK; then *result is the
 * result of open(2), or LWK_RESULT_AREAS.
 */
bool self_open(const char *path, int flags, int64_t *result);
/* Does for readlink(2) what self_open() does; 'buffer' is an address of the LWK process. */
bool self_readlink(const char *path, uint64_t buffer, uint64_t size, int64_t *result);
/* The program's own file if 'path' is /proc/self/exe, else NULL. */
const char *self_exe(const char *path);
/* uname(2), which stores at address 'to'. 0 or -EFAULT. */
int64_t self_uname(uint64_t to);

#endif
