/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The boot parameters and the status area. */
#ifndef LWK_MACHINE_BOOT_H
#define LWK_MACHINE_BOOT_H

#include "abi/shared/boot.h"
#include "abi/shared/status.h"
#include "lwk/base/types.h"

extern struct lwk_boot_params *boot;
extern struct lwk_status *status;
/* TSC value at which the first CPU entered the LWK. */
extern u64 boot_tsc;

/* True when 'option' is one of the words of the kernel command line (Args= in lwk.conf). */
bool boot_option(const char *option);

#endif
