/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * The memory that Linux and an LWK share, for lwkpart.ko, the LWK and its proxy. shared/boot.h says
 * how an LWK image is entered, and shared/layout.h which addresses it uses.
 */
#ifndef LWKSHARED_H
#define LWKSHARED_H

#include "abi/shared/boot.h"
#include "abi/shared/calls.h"
#include "abi/shared/channel.h"
#include "abi/shared/clock.h"
#include "abi/shared/console.h"
#include "abi/shared/counters.h"
#include "abi/shared/grant.h"
#include "abi/shared/layout.h"
#include "abi/shared/orders.h"
#include "abi/shared/state.h"
#include "abi/shared/statistics.h"
#include "abi/shared/status.h"

#endif
