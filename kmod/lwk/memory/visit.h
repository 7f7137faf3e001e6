/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that one process copies from or to another one of the same user. */
#ifndef LWK_MEMORY_VISIT_H
#define LWK_MEMORY_VISIT_H

#include "lwk/base/types.h"

/*
 * From now on others may copy memory of the process of this slot, its first, or no longer: then
 * nobody is at it when the call returns. The caller holds no lock.
 */
void visit_allow(bool allowed);

#endif
