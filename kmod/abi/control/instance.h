/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The life of an instance: creation, assignment of CPUs and memory, boot, end. */
#ifndef ABI_CONTROL_INSTANCE_H
#define ABI_CONTROL_INSTANCE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/device.h"
#include "abi/shared/state.h"

/* Bytes of the largest kernel image that LWKPART_LOAD accepts. */
#define LWKPART_MAX_IMAGE (64UL << 20)
#define LWKPART_CMDLINE_LEN 256

/*
 * CREATE makes an instance, and its device /dev/lwk/N, which only 'uid' and processes with
 * CAP_SYS_ADMIN can open, whatever the node's mode; the numbers go round. ENOSPC: there are
 * LWKPART_MAX_INSTANCES. DESTROY shuts it down if it runs, and leaves its CPUs and memory in the
 * ledger as unassigned, for RETURN. Files of /dev/lwk/N that are still open belong to no instance
 * that comes later: all that they do fails with EHOSTDOWN, except LWK_GET_STATUS and
 * LWK_GET_DETAILS.
 */
#define LWKPART_MAX_INSTANCES 64
struct lwkpart_create {
	__u32 instance; /* out: N */
	__u32 uid;	/* in: owner of the device */
	__u32 job_id;	/* in: for people who read the ledger */
	__u32 flags;
};
/* A flag of CREATE: LWK_SERVE_CALLS has no effect, proxies make all calls themselves. */
#define LWKPART_CREATE_PROXY_CALLS 1U
/*
 * A flag of CREATE: the proxies' CPU time is limited, so they look for calls no longer than sleeping
 * costs.
 */
#define LWKPART_CREATE_LIMITED 2U

/*
 * ASSIGN gives a lent and unassigned CPU or range to an instance that has not been
 * booted, else EBUSY. 'size' must be the whole lent range. CPUs have their indexes in the LWK
 * in the order of assignment. A CPU that ran an LWK before goes through
 * Linux once more, which takes as long as RETURN and LEND. An instance that was LOADED
 * goes back to ASSIGNED and must be loaded again.
 */
struct lwkpart_assign_cpu {
	__u32 instance;
	__u32 cpu;
	/* The Linux CPU that receives the doorbells of this LWK CPU; it must be on-line. */
	__u32 doorbell_cpu;
	__u32 flags;
};

struct lwkpart_assign_mem {
	__u32 instance;
	__u32 flags;
	__u64 start;
	__u64 size;
};

/*
 * LOAD puts an ELF64 x86-64 kernel image into the instance's memory. ENOEXEC: it
 * does not follow lwkshared.h; ENOMEM: the instance's memory is too
 * small for it; EBUSY: the state is neither ASSIGNED nor LOADED. After an error nothing is
 * loaded, even if an image was before; the kernel's log says what is wrong with the image.
 */
struct lwkpart_load {
	__u32 instance;
	__u32 flags;
	__u64 image; /* user address of the file's bytes */
	__u64 size;
};

/*
 * BOOT starts all CPUs and waits until the LWK says RUNNING. EBUSY: the state is not LOADED.
 * ETIMEDOUT: the state is HUNG; EIO: it panicked, and LWKPART_GET_INSTANCE has the message;
 * ECANCELED: another program has shut it down meanwhile; EINTR: the caller was killed, and the
 * state is HUNG. After these four only SHUTDOWN and DESTROY make sense.
 */
struct lwkpart_boot {
	__u32 instance;
	__u32 timeout_ms;
	char cmdline[LWKPART_CMDLINE_LEN]; /* NUL terminated */
	__u64 reserved[2];
};

/* The argument of SHUTDOWN and DESTROY. SHUTDOWN also succeeds when there is nothing to stop. */
struct lwkpart_instance_op {
	__u32 instance;
	__u32 flags;
};

struct lwkpart_instance_info {
	__u32 instance;	    /* in */
	__u32 state;	    /* out: enum lwk_state */
	__u32 uid;	    /* out */
	__u32 job_id;	    /* out */
	__u32 cpus;	    /* out: number assigned */
	__u32 ranges;	    /* out: memory ranges assigned; neighbours on one node are one */
	__u64 bytes;	    /* out: memory assigned */
	__u32 processes;    /* out: LWK processes that exist */
	__u32 memory_clear; /* out: 1 when the LWK has cleared the memory, struct lwk_status */
	char message[LWKPART_MESSAGE_LEN]; /* out: why PANIC or HUNG */
	__u64 reserved[4];
};

/*
 * An instance is HUNG when one of its CPUs has stayed in the LWK's kernel without a sign of life
 * for 'limit_ms' milliseconds, at least 1000. LWKPART_CREATE sets LWKPART_HANG_MS.
 */
#define LWKPART_HANG_MS 10000
struct lwkpart_hang_limit {
	__u32 instance;
	__u32 limit_ms;
};

/*
 * From now on a process that becomes a proxy of the instance (LWK_PROC_CREATE) is moved into
 * these cgroups, with the rights of the caller; if that fails, it does not become a proxy. 'fds'
 * are the cgroups' cgroup.procs files, open for writing. They replace those of an earlier call;
 * without any, proxies stay where they are. EBADF; EINVAL: a file is not of a cgroup; EBUSY: the
 * instance was booted.
 */
#define LWKPART_MAX_GROUPS 8
struct lwkpart_confine {
	__u32 instance;
	__u32 count;
	__s32 fds[LWKPART_MAX_GROUPS];
	__u64 reserved;
};

#define LWKPART_CREATE _IOWR(LWKPART_IOC, 0x05, struct lwkpart_create)
#define LWKPART_DESTROY _IOW(LWKPART_IOC, 0x06, struct lwkpart_instance_op)
#define LWKPART_ASSIGN_CPU _IOW(LWKPART_IOC, 0x07, struct lwkpart_assign_cpu)
#define LWKPART_ASSIGN_MEM _IOW(LWKPART_IOC, 0x08, struct lwkpart_assign_mem)
#define LWKPART_LOAD _IOW(LWKPART_IOC, 0x09, struct lwkpart_load)
#define LWKPART_BOOT _IOW(LWKPART_IOC, 0x0a, struct lwkpart_boot)
#define LWKPART_SHUTDOWN _IOW(LWKPART_IOC, 0x0b, struct lwkpart_instance_op)
#define LWKPART_GET_INSTANCE _IOWR(LWKPART_IOC, 0x0c, struct lwkpart_instance_info)
#define LWKPART_HANG_LIMIT _IOW(LWKPART_IOC, 0x0f, struct lwkpart_hang_limit)
#define LWKPART_CONFINE _IOW(LWKPART_IOC, 0x13, struct lwkpart_confine)

#endif
