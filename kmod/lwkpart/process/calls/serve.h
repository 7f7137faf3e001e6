/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_SERVE_H
#define LWKPART_SERVE_H

#include "abi/device/serve.h"
#include "process/thread/thread.h"

/* LWK_SERVE, with its errors. */
long serve(struct lwk_thread *thread, struct lwk_serve __user *arg);

#endif
