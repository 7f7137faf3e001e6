// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit/allocation.h"

#include <hwloc.h>
#include <json-c/json.h>
#include <stdlib.h>

/* The linker gives these names to the true functions, and the calls to the others (--wrap). */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
hwloc_bitmap_t __real_hwloc_bitmap_alloc(void);
hwloc_bitmap_t __wrap_hwloc_bitmap_alloc(void);
hwloc_bitmap_t __real_hwloc_bitmap_dup(hwloc_const_bitmap_t set);
hwloc_bitmap_t __wrap_hwloc_bitmap_dup(hwloc_const_bitmap_t set);
struct json_object *__real_json_object_new_object(void);
struct json_object *__wrap_json_object_new_object(void);

static unsigned left;
static bool failed;

void allocation_fail(unsigned n)
{
	left = n;
	failed = false;
}

bool allocation_failed(void)
{
	return failed;
}

static bool fails(void)
{
	if (!left || --left)
		return false;
	failed = true;
	return true;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

hwloc_bitmap_t __wrap_hwloc_bitmap_alloc(void)
{
	return fails() ? NULL : __real_hwloc_bitmap_alloc();
}

hwloc_bitmap_t __wrap_hwloc_bitmap_dup(hwloc_const_bitmap_t set)
{
	return fails() ? NULL : __real_hwloc_bitmap_dup(set);
}

struct json_object *__wrap_json_object_new_object(void)
{
	return fails() ? NULL : __real_json_object_new_object();
}
