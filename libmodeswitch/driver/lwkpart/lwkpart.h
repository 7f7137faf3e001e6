/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the driver for lwkpart.ko.
 */
#ifndef DRIVER_LWKPART_H
#define DRIVER_LWKPART_H

#include "driver/driver.h"

extern const struct watching watching_lwkpart;
extern const struct dumping dumping_lwkpart;

#endif
