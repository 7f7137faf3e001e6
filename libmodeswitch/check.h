/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of ms_check() share. */
#ifndef CHECK_H
#define CHECK_H

#include "modeswitch.h"

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

#endif
