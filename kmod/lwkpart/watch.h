/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_WATCH_H
#define LWKPART_WATCH_H

#include "instance/instance.h"

void watch_init(struct instance *instance);
/* Begins the watch when the CPUs are started. */
void watch_start(struct instance *instance);
/* Ends the watch after the CPUs have been stopped; sleeps until it is over. */
void watch_stop(struct instance *instance);

#endif
