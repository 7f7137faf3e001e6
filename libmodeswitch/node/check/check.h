/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of ms_check() share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "modeswitch/config.h"
#include "modeswitch/node.h"

struct driver;

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

/* installation.c */
void check_config(struct checking *checking, const char *path);
void check_images(struct checking *checking);
void check_module(struct checking *checking, const struct driver *driver);

/* kernel.c */
void check_limits(struct checking *checking);
void check_interrupts(struct checking *checking);

/* memory.c */
void check_memory(struct checking *checking);
void check_numa(struct checking *checking);

/* jobs.c */
void check_jobs(struct checking *checking);
void check_journals(struct checking *checking);

/* slurm/, after check_ask_slurm() in scontrol.h */
void check_plugstack(struct checking *checking);
void check_settings(struct checking *checking);
void check_slurm_node(struct checking *checking);

#endif
