// SPDX-License-Identifier: GPL-2.0-or-later
#include "places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A power of two. A place that finds no room near its hash counts as one at address 0. */
#define PLACES (1U << 20)
#define HASH_BITS 20
#define TRIES 64

static struct place {
	uint64_t at;
	uint32_t vcpu;
	uint32_t n; /* 0: free */
} *places;
static char *file_path;

bool places_open(const char *path)
{
	file_path = strdup(path);
	places = calloc(PLACES, sizeof(*places));
	return file_path && places;
}

bool places_wanted(void)
{
	return places;
}

void places_begin(void)
{
	if (places)
		memset(places, 0, PLACES * sizeof(*places));
}

void places_note(unsigned vcpu, uint64_t at)
{
	uint64_t hash = (at ^ (uint64_t)vcpu << 56) * 0x9e3779b97f4a7c15ULL;

	for (unsigned tries = 0; places && tries < TRIES; tries++) {
		struct place *place = &places[((hash >> (64 - HASH_BITS)) + tries) % PLACES];

		if (place->n == 0)
			*place = (struct place){ .at = at, .vcpu = vcpu };
		if (place->at == at && place->vcpu == vcpu) {
			place->n++;
			return;
		}
	}
	if (places && at != 0)
		places_note(vcpu, 0);
}

void places_write(void)
{
	FILE *file = places ? fopen(file_path, "w") : NULL;

	if (!places)
		return;
	for (unsigned i = 0; file && i < PLACES; i++) {
		if (places[i].n)
			fprintf(file, "%u %016llx %u\n", places[i].vcpu,
				(unsigned long long)places[i].at, places[i].n);
	}
	if (!file || fclose(file) != 0)
		fprintf(stderr, "counts: %s cannot be written\n", file_path);
}
