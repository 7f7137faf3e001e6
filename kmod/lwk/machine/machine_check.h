/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of the hardware. */
#ifndef LWK_MACHINE_MACHINE_CHECK_H
#define LWK_MACHINE_MACHINE_CHECK_H

#include "lwk/base/types.h"

/* Reports the errors that the hardware has corrected, and those that concern no program. */
void machine_check_report(void);
/* Returns the physical address that the interrupted program needed and cannot have; 0: unknown. */
u64 machine_check_address(void);

#endif
