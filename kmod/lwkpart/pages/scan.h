/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_SCAN_H
#define LWKPART_SCAN_H

#include "abi/control/pages.h"

/* LWKPART_SCAN, with its errors. Checks all fields; needs no lock. */
int scan_pages(struct lwkpart_scan *request);

#endif
