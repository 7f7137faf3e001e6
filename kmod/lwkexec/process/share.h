/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the LWK process shares with other processes: the proxy maps the file at the process's
 * own address, inside the window. Linux uses that mapping for delegated calls, and lwkpart.ko pins
 * its pages for the LWK.
 */
#ifndef LWKEXEC_SHARE_H
#define LWKEXEC_SHARE_H

#include <stdint.h>

/* LWK_CALL_SHARE */
int64_t share_begin(const uint64_t args[6]);
/* LWK_CALL_SEGMENT */
int64_t share_segment_size(int id);
/* LWK_CALL_DETACH */
int64_t share_detach(uint64_t start);
/* LWK_CALL_GRANT */
int64_t share_grant(void);
/* LWK_CALL_UNSHARE */
int64_t share_end(uint64_t start, uint64_t size);
/* LWK_CALL_RESHARE */
int64_t share_protect(uint64_t start, uint64_t size, int prot);
/* Must be called in a forked child, which keeps what is shared. */
void share_renew(void);

#endif
