/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/self/lwk: counts that Linux has no file for (lwkexec(1) lists them). */
#ifndef LWKEXEC_LWK_H
#define LWKEXEC_LWK_H

#include <stdio.h>

void lwk_print(FILE *out);

#endif
