/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms of the options' arguments. Each function refuses an argument in the user's process,
 * where a refusal costs nobody anything: 0, or -1 with *err. slurmstepd parses the options again,
 * where a failure would have Slurm call the job completed; so the code that uses an argument there
 * checks it there.
 */
#ifndef SPANK_OPTION_FORMS_H
#define SPANK_OPTION_FORMS_H

#include <stdbool.h>

#include "modeswitch/error.h"

/* A path for --mpi-profile is shorter than this. */
#define FORM_PROFILE_MAX 2000

/*
 * True when the option has an argument. One without is "(null)" in Slurm's own environment
 * variables, which the prolog reads, and in sbatch before each further component of a heterogeneous
 * job.
 */
bool form_has_argument(const char *arg);

int form_image(const char *arg, struct ms_error *err);
int form_launch(const char *arg, struct ms_error *err);
int form_memory(const char *arg, struct ms_error *err);
int form_numa(const char *arg, struct ms_error *err);
int form_proxy_memory(const char *arg, struct ms_error *err);
int form_mpi_profile(const char *arg, struct ms_error *err);
int form_mpi_collectives(const char *arg, struct ms_error *err);
int form_mpi_place(const char *arg, struct ms_error *err);

/* True when the text is an argument of --mpi-collectives. */
bool form_is_collectives(const char *arg);

#endif
