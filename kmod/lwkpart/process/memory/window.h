/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The WINDOW: the LWK process's memory, as the proxy has it mapped. */
#ifndef LWKPART_WINDOW_H
#define LWKPART_WINDOW_H

#include "abi/device/process.h"
#include "process/thread/thread.h"

/* Makes a mapping of /dev/lwk/N at file offset 'offset' a part of the WINDOW. 0 or -EINVAL. */
int window_attach(struct lwk_process *process, struct vm_area_struct *vma, u64 offset);
/* Removes all pages, and lets no page be shown any more. */
void window_hide(struct lwk_process *process);
/* From now on pages may be shown again, those of the file's next process. */
void window_show(struct lwk_process *process);
/*
 * Has the LWK let go of the pages that it was granted in the range: READY. REFUSED: the process has
 * ended; ASKED: the LWK keeps them, or does not answer in time. Sleeps, for at most twenty seconds,
 * and takes no lock that is held while memory is allocated, so that Linux can call it to get memory
 * back. Those who wait are Linux's own threads, which write the files of everybody: so after one
 * ASKED, or many slow answers, the result is ASKED at once, for all processes of the instance.
 */
enum lwk_fault_state window_revoke(struct lwk_process *process, unsigned long addr,
				   unsigned long size);
/* LWK_UNMAP: 0, -EINVAL, -EINTR. */
long window_unmap(struct lwk_process *process, const struct lwk_unmap *range);

#endif
