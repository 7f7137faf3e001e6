/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_FOLLOW_H
#define LWKPART_FOLLOW_H

#include "instance/instance.h"

/* Makes each process stand still while its proxy is stopped, and go on with it. Takes rwsem. */
void follow_proxies(struct instance *instance);

#endif
