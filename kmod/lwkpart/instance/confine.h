/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroups into which the proxies of an instance are moved. */
#ifndef LWKPART_CONFINE_H
#define LWKPART_CONFINE_H

#include <linux/fs.h>
#include <linux/mutex.h>

#include "abi/control/instance.h"

struct confinement {
	struct mutex mutex;			 /* protects 'groups' */
	struct file *groups[LWKPART_MAX_GROUPS]; /* cgroup.procs files; NULL after the last */
};

void confinement_init(struct confinement *confinement);
void confinement_release(struct confinement *confinement);
/* LWKPART_CONFINE: 0, -EBADF, -EINVAL. */
int confinement_set(struct confinement *confinement, const struct lwkpart_confine *request);
/* Moves the calling process into the cgroups. 0 or a negative error. */
int confine_current(struct confinement *confinement);

#endif
