/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_MMAP_H
#define LWKPART_MMAP_H

#include <linux/fs.h>

/* mmap(2) of /dev/lwk/N; the file's private data is its struct lwk_process. */
int process_mmap(struct file *file, struct vm_area_struct *vma);

#endif
