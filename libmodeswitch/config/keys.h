/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of lwk.conf: their names, the values they take, and their defaults. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stddef.h>

#include "modeswitch/error.h"

struct key {
	const char *name;
	/* Reads a value into the field of 'size' bytes. 0, or -1 with the values it can have. */
	int (*parse)(const char *text, void *field, size_t size, struct ms_error *err);
	size_t offset, size;  /* of the field in struct ms_config or struct ms_image, in bytes */
	const char *fallback; /* the value when the key is not given; NULL: it must be given */
};

/* No table is longer than this. */
#define MAX_KEYS 32

/* The keys of [node] in struct ms_config and of [image NAME] in struct ms_image; name NULL ends. */
extern const struct key node_keys[];
extern const struct key image_keys[];

/* Sets every field of 'object' whose key has a fallback to it. */
void set_fallbacks(const struct key *keys, void *object);

#endif
