/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that are not on this LWK. */
#ifndef LWK_CALLS_REFUSED_H
#define LWK_CALLS_REFUSED_H

#include "lwk/base/types.h"

/* Names the call and the reason on the console, once for each call. Returns -ENOSYS. */
s64 refuse(u64 nr);

#endif
