/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/self/maps. The LWK knows what is mapped and tells the calling thread when it is asked. */
#ifndef LWKEXEC_MAPS_H
#define LWKEXEC_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A mapping, as LWK_CALL_AREA has it. */
struct maps_area {
	uint64_t start, end, prot, flags, file, offset;
};

/* LWK_CALL_AREA: adds a mapping. Returns 0 or a negative errno. */
int64_t maps_add(const uint64_t args[6]);
/* True when the LWK has told the calling thread all mappings. */
bool maps_known(void);
/* The mappings that the LWK has told the calling thread, by address. */
const struct maps_area *maps_areas(size_t *n);
/* Prints the mappings as /proc/PID/maps has them, and forgets them. */
void maps_print(FILE *out);
/* Prints their sizes as /proc/PID/statm has them, and forgets them. */
void maps_print_sizes(FILE *out);

#endif
