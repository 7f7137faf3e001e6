/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing a process's memory. */
#ifndef LWK_MEMORY_USER_H
#define LWK_MEMORY_USER_H

#include "lwk/base/types.h"

/* 0 or -EFAULT */
int copy_from_user(void *to, u64 from, size_t size);
int copy_to_user(u64 to, const void *from, size_t size);

#endif
