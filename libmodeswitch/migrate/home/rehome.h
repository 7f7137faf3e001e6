/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Brings pages of Linux jobs back to the NUMA nodes that LWK jobs had taken: ms_rehome().
 */
#ifndef REHOME_H
#define REHOME_H

/* Starts `lwkctl rehome`, detached, if there are pages to bring back. Logs when that fails. */
void rehome_start(void);

#endif
