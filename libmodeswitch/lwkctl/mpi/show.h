/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints a profile, with what a split over sites would cost. */
#ifndef LWKCTL_MPI_SHOW_H
#define LWKCTL_MPI_SHOW_H

#include <json-c/json.h>

#include "lwkctl/mpi/choice.h"

void show_text(const struct profile *profile, const struct choice *choice);
/* Prints the predictions for all ways to split the ranks over two sites. 0 or -1. */
int show_splits(const struct profile *profile, const struct choice *choice, struct ms_error *err);
/* Returns the exit status. */
int show_json(const struct profile *profile, const struct choice *choice);
/* Returns a new object, which the caller frees with json_object_put(). */
struct json_object *show_prediction(const struct prediction *prediction);

#endif
