/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knows which threads read and write each word of the memory. */
#ifndef MODEL_ACCESS_H
#define MODEL_ACCESS_H

#include <stdbool.h>

/* A word is shared that the search has taken for one thread's own: it must begin again. */
extern bool access_changed;

/* A store of the running thread that it has executed since it called the library. */
void access_finish(void);

#endif
