/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of ms_check(), one file each, and what they share. Each part tells its findings by
 * check_tell().
 */
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
	struct ms_config *config; /* NULL: lwk.conf is not valid */
	/* The output of "scontrol --oneliner show"; NULL: scontrol does not answer. */
	char *slurm;	  /* show config */
	char *node;	  /* show node, this one */
	char *partitions; /* show partition, all of them */
	char *json;	  /* show partition with --json, or its beginning */
};

/*
 * Tells a finding about one subject. 'level' is ms_finding's; 'to_do' is the remedy, NULL with
 * MS_FINE; 'format' is what was found.
 */
void check_tell(struct checking *checking, int level, const char *subject, const char *to_do,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Tells a finding whose remedy is to write 'lines' in 'file'. */
void check_tell_lines(struct checking *checking, int level, const char *subject, const char *lines,
		      const char *file, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* installation.c */
void check_config(struct checking *checking, const char *path);
void check_images(struct checking *checking);
void check_driver(struct checking *checking, const struct driver *driver);

/* kernel.c */
void check_cgroups(struct checking *checking);
void check_limits(struct checking *checking);
void check_interrupts(struct checking *checking);
void check_fred(struct checking *checking);
void check_tricks(struct checking *checking);
void check_age(struct checking *checking);
void check_vulnerabilities(struct checking *checking);

/* memory.c */
void check_memory(struct checking *checking);
void check_numa(struct checking *checking);
void check_cpu_numbers(struct checking *checking);

/* jobs.c */
void check_jobs(struct checking *checking);
void check_journals(struct checking *checking);

/* slurm/, after check_ask_slurm() in scontrol.h */
void check_plugstack(struct checking *checking);
void check_releases(struct checking *checking);
void check_settings(struct checking *checking);
void check_slurm_node(struct checking *checking);
void check_over(struct checking *checking);

#endif
