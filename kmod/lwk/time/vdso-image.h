/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vDSO as it was linked, for every process to map. */
#ifndef LWK_TIME_VDSO_IMAGE_H
#define LWK_TIME_VDSO_IMAGE_H

#include "lwk/base/types.h"

extern const u8 vdso_start[], vdso_end[];

#endif
