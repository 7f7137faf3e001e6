// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies of an LWK kernel's own memory, for a dump. What the LWK never used is left out: it holds
 * what the users of that memory before left there, another job perhaps.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

/* As the LWK says, but at least what it was started with. */
static u64 used_bytes(const struct instance *instance)
{
	u64 used = READ_ONCE(instance->status->kernel_end);

	used = min(PAGE_ALIGN(min(used, instance->reserve_size)), instance->reserve_size);
	return max(used, instance->reserve_used);
}

int dump_layout(const struct instance *instance, struct lwkpart_dump_layout *layout)
{
	unsigned int i;

	if (!instance->status)
		return -ENODATA;
	layout->start = instance->reserve_start;
	layout->bytes = used_bytes(instance);
	layout->count = instance->n_segments;
	for (i = 0; i < instance->n_segments; i++)
		layout->segments[i] = instance->segments[i];
	return 0;
}

int dump_copy(const struct instance *instance, struct lwkpart_dump *request)
{
	u64 used, size = request->size;
	void *copy;
	int error = 0;

	if (!instance->status)
		return -ENODATA;
	used = used_bytes(instance);
	if (request->offset >= used)
		size = 0;
	else if (size > used - request->offset)
		size = used - request->offset;
	request->size = size;
	if (!size)
		return 0;
	/* Checks of copies to user space look at a page's struct, and off-line pages have none. */
	copy = kvmalloc(size, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, phys_to_virt(instance->reserve_start + request->offset), size);
	if (copy_to_user(u64_to_user_ptr(request->buffer), copy, size))
		error = -EFAULT;
	kvfree(copy);
	return error;
}
