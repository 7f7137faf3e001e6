/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that one process copies from or to another one of the same user. */
#ifndef LWK_MEMORY_VISIT_H
#define LWK_MEMORY_VISIT_H

#include "lwk/base/types.h"

/*
 * Lets others copy memory of this slot's process, or forbids it: then no copy is under way when the
 * call returns. The slot is the process's first. The caller holds no lock.
 */
void visit_allow(bool allowed);

#endif
