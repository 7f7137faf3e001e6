/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window: the LWK process's memory, mapped into the proxy at the same addresses, so that Linux
 * takes the process's pointers as they are. The proxy's own code never follows such a pointer: for
 * a bad one Linux answers EFAULT, and the proxy would crash (copy.h copies safely).
 */
#ifndef LWKEXEC_WINDOW_H
#define LWKEXEC_WINDOW_H

#include <stdint.h>

/*
 * Maps the window of the device's process, except where the proxy has something of its own, or a
 * forked child memory that its parent shared with others (share.h). Returns 0 or a negative errno.
 */
int window_map(int device);
/* Tells an LWK process that is still empty where the window is not. 0 or a negative errno. */
int64_t window_reserve(void);
/*
 * Maps the window at these addresses, in the place of anything else there. 0 or a negative errno.
 */
int window_restore(int device, uint64_t start, uint64_t size);
void window_unmap(void);

#endif
