/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of files on disks that an LWK process has mapped shared. Linux gets each back when it wants
 * to: before it writes the page to the disk, truncates the file, moves the page or frees it, and
 * whenever the proxy's own mapping of it changes. So the LWK has such a page only as long as the
 * proxy has it mapped, may write to it only as long as the proxy may, and Linux knows which pages
 * are dirty.
 */
#ifndef LWKPART_FILE_PAGES_H
#define LWKPART_FILE_PAGES_H

#include <linux/mm_types.h>

#include "process/thread/thread.h"

struct file_pages;

/*
 * Begins to follow the mappings of the caller, who holds no lock, and returns a reference. NULL: no
 * memory.
 */
struct file_pages *file_pages_create(struct lwk_process *process);
struct file_pages *file_pages_get(struct file_pages *files);
/* Gives a reference back, with none of Linux's locks of memory held; NULL does nothing. */
void file_pages_put(struct file_pages *files);
/*
 * Returns how many pages a program will soon write that now writes to the one at index * PAGE_SIZE:
 * more than 1, and at most 'most', when it has written those before it one after the other.
 */
unsigned long file_pages_ahead(struct file_pages *files, unsigned long index, unsigned long most);
/*
 * Pages of the caller's that are pinned after this can be added, unless Linux wants pages back
 * meanwhile. False: the caller has started another program meanwhile, whose mappings are not followed.
 */
bool file_pages_begin(struct file_pages *files, unsigned long *begun);
/*
 * Takes over n pages that are pinned at address index * PAGE_SIZE, and has 'publish' tell the LWK
 * of the first ones. Returns how many those are, with the caller's pins; -EAGAIN: pin them again;
 * -ENOMEM; -EFAULT.
 */
long file_pages_add(struct file_pages *files, unsigned long begun, unsigned long index,
		    struct page **pages, long n, void (*publish)(void *argument, long n),
		    void *argument);
/* Unpins the pages of the range, which the LWK no longer uses. */
void file_pages_unpin(struct file_pages *files, unsigned long first, unsigned long last);
/* No page comes any more, and the LWK is not asked for those that it has. */
void file_pages_close(struct file_pages *files);

#endif
