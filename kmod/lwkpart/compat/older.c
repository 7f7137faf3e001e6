// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernels so old that they do not export some functions export the one that finds them by name. */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "compat/older.h"

#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/printk.h>

#ifndef HAVE_EXPORTED_FREE_CONTIG_RANGE
int (*compat_alloc_contig_range)(unsigned long start, unsigned long end, unsigned int type,
				 gfp_t gfp);
void (*compat_free_contig_range)(unsigned long first, unsigned int n);
#endif
#ifndef HAVE_EXPORTED_MEMORY_BLOCK_SIZE_BYTES
unsigned long (*compat_memory_block_size_bytes)(void);
#endif

static const struct function {
	void *pointer;
	const char *name;
} functions[] = {
#ifndef HAVE_EXPORTED_FREE_CONTIG_RANGE
	{ &compat_alloc_contig_range, "alloc_contig_range" },
	{ &compat_free_contig_range, "free_contig_range" },
#endif
#ifndef HAVE_EXPORTED_MEMORY_BLOCK_SIZE_BYTES
	{ &compat_memory_block_size_bytes, "memory_block_size_bytes" },
#endif
	{},
};

int compat_find_functions(void)
{
	const struct function *function;

	for (function = functions; function->name; function++) {
#if !defined(HAVE_EXPORTED_FREE_CONTIG_RANGE) || !defined(HAVE_EXPORTED_MEMORY_BLOCK_SIZE_BYTES)
		*(unsigned long *)function->pointer = kallsyms_lookup_name(function->name);
#endif
		if (!*(unsigned long *)function->pointer) {
			pr_err("expected a kernel that has %s(), found none; use another kernel\n",
			       function->name);
			return -ENOENT;
		}
	}
	return 0;
}
