/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/*
 * The user ABI of lwkpart.ko. There are two kinds of device:
 *   /dev/lwkpart  the control device (control/), for root only. It lends CPUs and memory to LWK
 *                 instances, loads, boots and ends them (LWKPART_*).
 *   /dev/lwk/N    one device for each LWK instance (device/), mode 0600, owned by the job's user. A
 *                 proxy opens it once for each LWK process (LWK_*).
 *
 * These rules hold for every ioctl:
 *   - 'flags' and 'reserved' must be 0 unless a flag is defined for it, else EINVAL.
 *   - Addresses of lent memory are physical; they and its sizes in bytes are multiples of
 *     LWKPART_MEM_ALIGN. CPU numbers are Linux's.
 *   - A structure grows only with a new ioctl number; LWKPART_ABI_VERSION changes when the
 *     meaning of an existing ioctl does.
 *   - What gives back stays as it is for ever: LWKPART_GET_INFO, GET_LEDGER, GET_INSTANCE, SHUTDOWN,
 *     DESTROY, RETURN_CPU, RETURN_MEM. After an upgrade it is a newer library that ends the LWKs of an
 *     older module.
 *   - After an error nothing has changed, unless the ioctl says otherwise.
 */
#ifndef LWKPART_H
#define LWKPART_H

#include "abi/control/device.h"
#include "abi/control/dump.h"
#include "abi/control/instance.h"
#include "abi/control/kmsg.h"
#include "abi/control/ledger.h"
#include "abi/control/pages.h"
#include "abi/device/counters.h"
#include "abi/device/device.h"
#include "abi/device/freeze.h"
#include "abi/device/process.h"
#include "abi/device/serve.h"
#include "abi/device/watch.h"
#include "abi/lwkshared.h"

#endif
