/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/self/status: Linux's, with the lines about memory and CPUs as the LWK has them. */
#ifndef LWKEXEC_STATUS_H
#define LWKEXEC_STATUS_H

#include <stdio.h>

void status_print(FILE *out);

#endif
