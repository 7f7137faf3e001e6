/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of the LWK process's memory, made by Linux so that a bad pointer does no harm. */
#ifndef LWKEXEC_COPY_H
#define LWKEXEC_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Before any copy_in(), once per process. */
void copy_init(void);
/* In a forked child: gives it what copy_init() made, which it shares with its parent until then. */
int copy_renew(void);
/* Copies at most 'size' bytes, up to the first that cannot be read. Returns how many. */
size_t copy_in(void *to, uint64_t address, size_t size);
/* 0; -EFAULT: some of it cannot be written. */
int copy_out(uint64_t address, const void *from, size_t size);

#endif
