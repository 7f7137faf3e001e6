/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report of interrupts as text and as JSON. */
#ifndef LWKCTL_IRQS_REPORT_H
#define LWKCTL_IRQS_REPORT_H

#include <stdbool.h>

#include "lwkctl/irqs/rates.h"

/* Prints on standard output. */
void report_print(const struct report *report, bool json);

#endif
