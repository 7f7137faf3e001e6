/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of ms_check() share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "modeswitch/config.h"
#include "modeswitch/node.h"

struct checking {
	void (*hear)(const struct ms_finding *finding, void *context);
	void *context;
	int problems;
	struct ms_config *config; /* NULL: it is not valid */
	/* What "scontrol --oneliner show" says; NULL: it does not answer. */
	char *slurm;	  /* of config */
	char *node;	  /* of this node */
	char *partitions; /* of all */
};

/* What is the matter with one subject, and what to do; 'to_do' is NULL when all is well. */
void check_tell(struct checking *checking, int level, const char *subject, const char *to_do,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* check_slurm.c: asks scontrol, free what it stores in 'checking'; and looks at its answers. */
void check_ask_slurm(struct checking *checking);
void check_slurm(struct checking *checking);
/* check_node.c */
void check_node(struct checking *checking);

/*
 * The value of "KEY = VALUE" in the lines of "show config", or of "KEY=VALUE" among the words
 * of "show node"; "" when it is not there.
 */
const char *check_setting(const char *text, const char *key, char *value, size_t size);
/* The same as a number; 0 when it is not there, or none. */
unsigned long check_number(const char *text, const char *key);
/* Is 'word' one of the comma-separated ones, in upper or lower case? */
bool check_has_word(const char *list, const char *word);

#endif
