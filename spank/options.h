/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that sbatch, srun and salloc learn from this plugin. */
#ifndef SPANK_OPTIONS_H
#define SPANK_OPTIONS_H

#include <slurm/spank.h>
#include <stdbool.h>

/* From slurm_spank_init(), in every process that loads the plugin. */
int options_register(spank_t sp);

/*
 * True when --lwk was given; *image then is its argument, "" for the default image. The text comes
 * from the user and nobody has checked it.
 */
bool options_lwk(spank_t sp, const char **image);

/* In srun, when it has read its options: true when its step is one of an LWK job. */
bool options_lwk_step(void);
/* In srun, at any time: true when its step may be one of an LWK job. */
bool options_maybe_lwk_step(void);

/*
 * The arguments of --lwk-mem, --lwk-numa and --lwk-proxy-mem, or NULL. The text comes from the
 * user, too, and is unchecked.
 */
const char *options_memory(spank_t sp);
const char *options_numa(spank_t sp);
const char *options_proxy_memory(spank_t sp);

/*
 * In sbatch, salloc and srun, when all options are known: -1, and a message, when they contradict
 * each other.
 */
int options_check(void);
/* At the same place: true when this command makes an allocation with --lwk. */
bool options_allocation(void);
/* At the same place: true when --lwk-numa was given. */
bool options_numa_given(void);

/* False with --lwk-launch=none: the user's own commands call lwkexec. */
bool options_launch(spank_t sp);

/* True when --quiet-irqs was given. */
bool options_quiet(spank_t sp);

/* The file that --mpi-profile names, "" when it names none; NULL: no profile is wanted. */
const char *options_mpi_profile(spank_t sp);

/* The word of --mpi-collectives, "sites" or "sites,reproducible"; NULL: not given. */
const char *options_mpi_collectives(spank_t sp);

/* True when --mpi-place was given. */
bool options_mpi_place(spank_t sp);

/* True when --lwk-report was given. */
bool options_report(spank_t sp);

#endif
