/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Physical addresses of the partition, and where the kernel has them. */
#ifndef LWK_MEMORY_DIRECT_MAP_H
#define LWK_MEMORY_DIRECT_MAP_H

#include "abi/shared/layout.h"
#include "lwk/base/types.h"

static inline void *phys_to_virt(u64 phys)
{
	return (void *)(LWK_DIRECT_MAP + phys);
}

static inline u64 virt_to_phys(const void *virt)
{
	return (u64)virt - LWK_DIRECT_MAP;
}

#endif
