/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_ROUSE_H
#define LWKPART_ROUSE_H

#include "instance/instance.h"

/*
 * Sends LWK_SIGNAL_GONE to the threads of all proxies, which may wait for something else than their
 * LWK. Call it after the state has changed to one in which the LWK does not answer, and again as
 * long as there are processes: a thread may begin to wait after it has handled the signal. Sleeps.
 */
void rouse_proxies(struct instance *instance);

#endif
