/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lent memory. With lwkpart_mutex held. */
#ifndef LWKPART_MEMORY_H
#define LWKPART_MEMORY_H

#include "abi/control/ledger.h"

int memory_init(void);
void memory_exit(void);
/* LWKPART_LEND_MEM and LWKPART_RETURN_MEM, with their errors. They check all fields. */
int memory_lend(struct lwkpart_mem *request);
int memory_return(const struct lwkpart_mem *request);

#endif
