/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floating point and vectors (Intel SDM volume 1, chapter 13). */
#ifndef LWK_MACHINE_FPU_H
#define LWK_MACHINE_FPU_H

#include "lwk/base/types.h"

/* Finds out what the CPUs have. They are all alike. */
void fpu_inspect(void);
/* Bytes that fpu_save() writes; the area is aligned to 64 bytes. */
size_t fpu_size(void);
void fpu_reset(void);
void fpu_save(void *area);
/* Loads what user code may have made up; false: it is not valid. */
bool fpu_load(const void *area);
/* The FPE_ code of the program's floating-point exception: #XM if 'simd', else #MF. */
int fpu_signal_code(bool simd);

#endif
