/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what lwkctl bench has measured. */
#ifndef LWKCTL_BENCH_SHOW_H
#define LWKCTL_BENCH_SHOW_H

#include "lwkctl/bench/measure.h"

/* Both print on standard output and return the exit status. */
int bench_show_text(const struct bench *bench);
int bench_show_json(const struct bench *bench);

/* Draws each time on the LWK, divided by that on Linux, as a bar. 0; -1 with err. */
int bench_write_svg(const struct bench *bench, const char *path, struct ms_error *err);

#endif
