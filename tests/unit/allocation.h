/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that fail. A test that uses this is linked with WRAP_ALLOCATIONS of tests/local.mk, which
 * covers calloc(), hwloc_bitmap_alloc(), hwloc_bitmap_dup() and json_object_new_object() in the tested files.
 */
#ifndef ALLOCATION_H
#define ALLOCATION_H

#include <stdbool.h>

/* Makes the n-th allocation from now on fail: the first one with 1, none with 0. */
void allocation_fail(unsigned n);
/* True when that one has failed; further ones succeed. */
bool allocation_failed(void);

#endif
