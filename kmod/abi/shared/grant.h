/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Grants: pages of files that an LWK process shares with other processes. */
#ifndef ABI_SHARED_GRANT_H
#define ABI_SHARED_GRANT_H

#include <linux/types.h>

#include "abi/shared/layout.h"

/*
 * An LWK process shares memory with processes of Linux, or of another LWK, as pages of a file
 * that its proxy has mapped at the same addresses. lwkpart.ko pins them there and tells the LWK
 * where they are. It unpins them when the LWK says that none of its CPUs can reach them any
 * more, or at the end of the process. It asks for pages of files on disks back when Linux wants to
 * write them to the disk, to move them or to drop them (LWK_FAULT_REVOKE). A proxy must neither
 * name a page nor have one unpinned, so all of this is where it cannot reach; it only calls
 * LWK_GRANT for the LWK.
 *
 * There is one element per slot. The LWK fills in order, writable, start and count, then sets the
 * state ASKED and sends its proxy a request. lwkpart.ko takes the order (BUSY), writes result and
 * pages, and last DONE. If the proxy replies while the state is still ASKED, it has not called
 * LWK_GRANT, and the LWK sets the state to IDLE.
 */
enum lwk_grant_order {
	LWK_GRANT_PIN = 1, /* as many pages as can be pinned at once, at least the first */
	LWK_GRANT_UNPIN,   /* all pages that were granted in the range */
};

/* The LWK's use of the pages. */
enum lwk_grant_access {
	LWK_GRANT_READ = 0,  /* it may not write to them */
	LWK_GRANT_MAY_WRITE, /* it may, and reads the first one now */
	LWK_GRANT_WRITE,     /* it writes to the first one now */
};

enum lwk_grant_state {
	LWK_GRANT_IDLE = 0,
	LWK_GRANT_ASKED,
	LWK_GRANT_BUSY,
	LWK_GRANT_DONE,
};

#define LWK_GRANT_PAGES 60
/* The LWK may write to the page. */
#define LWK_GRANT_WRITABLE 1UL
struct lwk_grant {
	__u32 state;  /* enum lwk_grant_state */
	__u16 order;  /* enum lwk_grant_order */
	__u16 access; /* enum lwk_grant_access */
	__u64 start;
	__u64 count;  /* of 4 KB pages; of PIN at most LWK_GRANT_PAGES */
	__s64 result; /* PIN: number of elements in 'pages', or a negative error; UNPIN: 0 */
	__u64 pages[LWK_GRANT_PAGES]; /* physical addresses | LWK_GRANT_WRITABLE */
} LWK_LINE_ALIGNED;

#endif
