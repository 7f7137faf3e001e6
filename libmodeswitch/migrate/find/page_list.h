/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of the pages that a process is known to have had on the nodes to be left, and how much
 * each of them is in use.
 */
#ifndef PAGE_LIST_H
#define PAGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/error.h"

struct migrate_page;
struct migrate_process;
struct migration;

/*
 * Adds a page that a scan found, behind all that are listed. NULL: it is listed already, or there
 * is no memory. The pointer is good until the next page is added.
 */
struct migrate_page *page_list_add(struct migration *migration, struct migrate_process *process,
				   uint64_t word);
/*
 * Scans all processes and brings their lists up to date: new pages, pages that are gone, and use.
 * 'clear': what is used from now on is what the next scan finds. 'window_ms': milliseconds since
 * the last such call; 0: use is not noted. 0 or -1.
 */
int page_list_update(struct migration *migration, bool clear, unsigned window_ms,
		     struct ms_error *err);
/*
 * Estimates from a sample how many of the listed pages, in units of 4 KB, are still on the nodes
 * and were used since the last scan that cleared. Clears nothing.
 */
uint64_t page_list_sample(struct migration *migration);

#endif
