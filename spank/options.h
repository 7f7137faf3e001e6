/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that sbatch, srun and salloc learn from this plugin. */
#ifndef SPANK_OPTIONS_H
#define SPANK_OPTIONS_H

#include <slurm/spank.h>
#include <stdbool.h>

/* From slurm_spank_init(), in every process that loads the plugin. */
int options_register(spank_t sp);

/*
 * True when --lwk was given; then *image is what it was given, "" for the
 * default image. The text comes from the user and has been checked by nobody.
 */
bool options_lwk(spank_t sp, const char **image);

/*
 * In srun: true when its step is one of an LWK job; known when srun has read its
 * options. Before that, true when it may be one.
 */
bool options_lwk_step(void);
bool options_maybe_lwk_step(void);

/*
 * What --lwk-mem, --lwk-numa and --lwk-proxy-mem were given, or NULL. Unchecked text of the
 * user's, too.
 */
const char *options_memory(spank_t sp);
const char *options_numa(spank_t sp);
const char *options_proxy_memory(spank_t sp);

/*
 * In sbatch, salloc and srun, when all options are known: -1 when they contradict each
 * other; the user has been told then.
 */
int options_check(void);
/* There: true when this command makes an allocation with --lwk. */
bool options_allocation(void);
bool options_numa_given(void);

/* False when the user wants to call lwkexec himself (--lwk-launch=none). */
bool options_launch(spank_t sp);

/* --quiet-irqs */
bool options_quiet(spank_t sp);

/* --lwk-report */
bool options_report(spank_t sp);

#endif
