/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the pages that a process has on the nodes to be left, and which of them are in use. */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "modeswitch/error.h"

struct migrate_process;
struct migration;

#define SCAN_END UINT64_MAX
#define SCAN_CHUNK 4096U

/* Chooses what tells of use: lwkpart.ko where it can be opened, else soft-dirty bits. */
void scan_open(struct migration *migration);
/*
 * Lists pages that a process has on the nodes, from *at until 'end', as words of struct
 * migrate_page. *at becomes where to go on, or SCAN_END. 'clear': what is used from now on is what
 * the next scan finds (lwkpart.ko only). The number of words, up to 'room', or -1 when the process
 * is gone.
 */
ssize_t scan_part(struct migration *migration, struct migrate_process *process, uint64_t *at,
		  uint64_t end, bool clear, uint64_t *words, size_t room);
/*
 * Lists all pages that a process has on the nodes, within the limits of the migration; 'clear'
 * works without lwkpart.ko, too. *words has room for *room words, grows as needed, and then has *n
 * words; the caller frees it with free(). 0, or -1 without memory.
 */
int scan_process(struct migration *migration, struct migrate_process *process, bool clear,
		 uint64_t **words, size_t *room, size_t *n);
/* Forgets all use up to now, of all processes. 0 or -1. */
int scan_forget_use(struct migration *migration, struct ms_error *err);
/* True when the process has a page at this address, on whatever node. */
bool page_present(const struct migrate_process *process, uint64_t address);

#endif
