/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests to /dev/lwkpart for each instance, by its number. The functions carry out the
 * ioctls of the same names and return their errors. Unless a comment says otherwise, a caller holds
 * lwkpart_mutex.
 */
#ifndef LWKPART_INSTANCES_H
#define LWKPART_INSTANCES_H

#include "abi/control/dump.h"
#include "abi/control/instance.h"
#include "abi/control/kmsg.h"

unsigned int instance_count(void);
int instance_create(struct lwkpart_create *request);
int instance_assign_cpu(const struct lwkpart_assign_cpu *request);
int instance_assign_memory(const struct lwkpart_assign_mem *request);
int instance_load(const struct lwkpart_load *request);
/*
 * The caller does not hold the mutex: these take it, and wait without it for the LWK, or for
 * programs of the job that wait for the LWK.
 */
int instance_boot(const struct lwkpart_boot *request);
int instance_shutdown(u32 id);
int instance_destroy(u32 id);
int instance_kmsg(struct lwkpart_kmsg *request);
int instance_dump_layout(struct lwkpart_dump_layout *request);
int instance_dump(struct lwkpart_dump *request);
/* From here on the caller holds it. */
int instance_info(struct lwkpart_instance_info *request);
int instance_hang_limit(const struct lwkpart_hang_limit *request);
int instance_confine(const struct lwkpart_confine *request);

#endif
