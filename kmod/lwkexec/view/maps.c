/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwkexec/instance/memory.h"
#include "lwkexec/program/mapped_files.h"
#include "lwkexec/program/stack.h"

/* Linux puts the name into this column of a line. */
#define NAME_COLUMN 73

static __thread struct maps_area *areas;
static __thread size_t n_areas;

int64_t maps_add(const uint64_t args[6])
{
	struct maps_area *more = realloc(areas, (n_areas + 1) * sizeof(*areas));

	if (!more)
		return -ENOMEM;
	areas = more;
	memcpy(&areas[n_areas++], args, sizeof(*areas));
	return 0;
}

bool maps_known(void)
{
	return n_areas;
}

const struct maps_area *maps_areas(size_t *n)
{
	*n = n_areas;
	return areas;
}

/* Linux's name for a mapping of no file. */
static const char *kind_of(const struct maps_area *area)
{
	if (area->flags & LWK_AREA_HEAP)
		return "[heap]";
	return area->end == STACK_TOP		? "[stack]"
	       : area->start == LWK_CLOCK_VADDR ? "[vvar]"
	       : area->start == LWK_VDSO_VADDR	? "[vdso]"
						: "";
}

static void print_area(FILE *out, const struct maps_area *area)
{
	struct mapped_file file = mapped_file_get(area->file);
	const char *name = file.path ? file.path : kind_of(area);
	int n = fprintf(out, "%08lx-%08lx %c%c%c%c %08lx %02x:%02x %lu ", area->start, area->end,
			area->prot & PROT_READ ? 'r' : '-', area->prot & PROT_WRITE ? 'w' : '-',
			area->prot & PROT_EXEC ? 'x' : '-',
			area->flags & LWK_AREA_SHARED ? 's' : 'p', file.inode ? area->offset : 0,
			major(file.device), minor(file.device), file.inode);

	if (*name)
		fprintf(out, "%*s%s", n < NAME_COLUMN ? NAME_COLUMN - n : 0, "", name);
	putc('\n', out);
}

static void forget(void)
{
	free(areas);
	areas = NULL;
	n_areas = 0;
}

void maps_print_sizes(FILE *out)
{
	uint64_t size = 0, text = 0, data = 0;

	for (size_t i = 0; i < n_areas; i++) {
		uint64_t pages = (areas[i].end - areas[i].start) / 4096;

		size += pages;
		if (areas[i].prot & PROT_EXEC)
			text += pages;
		else if (areas[i].prot & PROT_WRITE && !(areas[i].flags & LWK_AREA_SHARED))
			data += pages;
	}
	/* Pages of files are copies here, and those of others are not the process's. */
	fprintf(out, "%lu %lu 0 %lu 0 %lu 0\n", size, memory_resident() / 4096, text, data);
	forget();
}

void maps_print(FILE *out)
{
	static const struct maps_area clock = { LWK_CLOCK_VADDR, LWK_VDSO_VADDR,
						.prot = PROT_READ },
				      vdso = { LWK_VDSO_VADDR, LWK_VDSO_VADDR + LWK_VDSO_BYTES,
					       .prot = PROT_READ | PROT_EXEC };

	for (size_t i = 0; i < n_areas; i++)
		print_area(out, &areas[i]);
	print_area(out, &clock);
	print_area(out, &vdso);
	forget();
}
