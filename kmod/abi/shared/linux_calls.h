/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Numbers of Linux's system calls for headers that are older than the calls. */
#ifndef ABI_SHARED_LINUX_CALLS_H
#define ABI_SHARED_LINUX_CALLS_H

#include <asm/unistd.h>

/* Linux 5.3 */
#ifndef __NR_pidfd_open
#define __NR_pidfd_open 434
#endif
#ifndef __NR_clone3
#define __NR_clone3 435
#endif
/* Linux 5.6 to 5.11 */
#ifndef __NR_close_range
#define __NR_close_range 436
#endif
#ifndef __NR_openat2
#define __NR_openat2 437
#endif
#ifndef __NR_faccessat2
#define __NR_faccessat2 439
#endif
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 441
#endif

#endif
