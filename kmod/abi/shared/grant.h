/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Pages of files that an LWK process has in common with others. */
#ifndef ABI_SHARED_GRANT_H
#define ABI_SHARED_GRANT_H

#include <linux/types.h>

#include "abi/shared/layout.h"

/*
 * Memory that an LWK process shares with processes of Linux, or of another LWK: pages of a file
 * that its proxy has mapped at the same addresses. lwkpart.ko pins them there and tells the LWK
 * where they are, and unpins them when the LWK says that none of its CPUs can reach them any
 * more, or at the end of the process. A proxy must neither name a page nor have one unpinned, so
 * all of this is where it cannot reach; what it does is to call LWK_GRANT, for the LWK's sake.
 *
 * One element per slot. The LWK fills in order, writable, start and count, then sets the state ASKED
 * and sends its proxy a request; lwkpart.ko takes it (BUSY), writes result and pages, and last
 * DONE. A reply without that is a lie: if the state is still ASKED, the LWK takes it back to IDLE.
 */
enum lwk_grant_order {
	LWK_GRANT_PIN = 1, /* as many as can be had at once, the first in any case */
	LWK_GRANT_UNPIN,   /* all that were granted in the range */
};

enum lwk_grant_state {
	LWK_GRANT_IDLE = 0,
	LWK_GRANT_ASKED,
	LWK_GRANT_BUSY,
	LWK_GRANT_DONE,
};

#define LWK_GRANT_PAGES 60
struct lwk_grant {
	__u32 state; /* enum lwk_grant_state */
	__u16 order; /* enum lwk_grant_order */
	__u16 writable;
	__u64 start;
	__u64 count;  /* of 4 KB pages; of PIN at most LWK_GRANT_PAGES */
	__s64 result; /* PIN: how many are in 'pages', or a negative error; UNPIN: 0 */
	__u64 pages[LWK_GRANT_PAGES]; /* physical addresses */
} LWK_LINE_ALIGNED;

#endif
