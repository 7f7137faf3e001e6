/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_MOVE_H
#define LWKPART_MOVE_H

#include "abi/control/pages.h"

/* LWKPART_MOVE, with its errors. Checks all fields; needs no lock. */
int move_pages_of(struct lwkpart_move *request);

#endif
