/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors that the proxy needs for itself. The program shares the proxy's table of descriptors
 * and must neither see these nor close them.
 */
#ifndef LWKEXEC_DESCRIPTORS_H
#define LWKEXEC_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes the descriptor one of the proxy's: gives it a high number, out of the way of the program's,
 * and closes it on exec. Returns the new number; -1 with EMFILE, and the descriptor is closed,
 * when there are too many. A 'fd' of -1 gives -1.
 */
int descriptor_keep(int fd);
/* Closes a descriptor of the proxy's. */
void descriptor_drop(int fd);
bool descriptor_is_kept(int fd);
/* The lowest descriptor of the proxy's from 'fd' on; UINT32_MAX: there is none. */
uint32_t descriptor_next_kept(uint32_t fd);

#endif
