/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Physical addresses of the partition, and where the kernel has them. */
#ifndef LWK_PAGING_DIRECT_MAP_H
#define LWK_PAGING_DIRECT_MAP_H

#include "abi/shared/layout.h"
#include "lwk/base/types.h"

/* Returns 'size' bytes for a stack, cleared. Below them is a page that nobody can use. */
void *direct_map_stack(size_t size);
/* Returns where the direct map has a page of the image. */
void *direct_map_of(const void *image);
/* Protects the read-only parts of the image from writes through the direct map. */
void direct_map_protect_image(void);

static inline void *phys_to_virt(u64 phys)
{
	return (void *)(LWK_DIRECT_MAP + phys);
}

static inline u64 virt_to_phys(const void *virt)
{
	return (u64)virt - LWK_DIRECT_MAP;
}

#endif
