/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's memory is read and written page by page through the direct map, so
 * no access by the kernel can fault, whatever address a program passes.
 */
#include "lwk/memory/user.h"

#include <linux/errno.h>

#include "abi/shared/layout.h"
#include "lwk/base/string.h"
#include "lwk/memory/fault.h"
#include "lwk/process/slot.h"

static inline int copy(u64 user, u8 *kernel, size_t size, bool write)
{
	struct space *space = &this_process()->space;

	if (user > LWK_USER_END || size > LWK_USER_END - user)
		return -EFAULT;
	for (size_t part; size; size -= part, user += part, kernel += part) {
		u8 *page = space_hold(space, user, write, true);

		if (!page)
			return -EFAULT;
		part = MIN(size, PAGE_SIZE - user % PAGE_SIZE);
		if (write)
			memcpy(page, kernel, part);
		else
			memcpy(kernel, page, part);
		space_release(space);
	}
	return 0;
}

int copy_from_user(void *to, u64 from, size_t size)
{
	return copy(from, to, size, false);
}

int copy_to_user(u64 to, const void *from, size_t size)
{
	return copy(to, (u8 *)from, size, true);
}
