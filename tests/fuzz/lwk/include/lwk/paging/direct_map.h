/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of the LWK's header: the partition's memory is simulated (lwk/partition.c). */
#ifndef FUZZ_LWK_DIRECT_MAP_H
#define FUZZ_LWK_DIRECT_MAP_H

#include "abi/shared/layout.h"
#include "lwk/base/types.h"

/* Ends the fuzzer for an address that is not the partition's. */
void *phys_to_virt(u64 phys);
u64 virt_to_phys(const void *virt);

#endif
