/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating point and vectors (Intel SDM volume 1, chapter 13). */
#ifndef LWK_MACHINE_FPU_H
#define LWK_MACHINE_FPU_H

#include "lwk/base/types.h"

/* 'first': this is the first CPU, which finds out what all of them have. */
void fpu_setup(bool first);
/* Bytes that fpu_save() writes; the area is aligned to 64 bytes. */
size_t fpu_size(void);
void fpu_reset(void);
void fpu_save(void *area);
/* Loads what user code may have made up: invalid parts are replaced by initial state. */
void fpu_load(void *area);

#endif
