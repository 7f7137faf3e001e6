/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* Watching an instance: its state, statistics, console and events. */
#ifndef ABI_DEVICE_WATCH_H
#define ABI_DEVICE_WATCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "abi/control/kmsg.h"
#include "abi/device/device.h"
#include "abi/shared/state.h"

/* LWK_GET_STATUS: the state of the instance. */
struct lwk_instance_status {
	__u32 state;	    /* enum lwk_state */
	__u32 cpus;	    /* LWK CPUs */
	__u32 processes;    /* LWK processes that exist */
	__u32 status_bytes; /* length of LWK_MMAP_STATUS */
	char message[LWKPART_MESSAGE_LEN];
};

/* LWK_GET_DETAILS: the instance in full; works as long as the file is open. */
struct lwk_instance_details {
	__u32 state; /* enum lwk_state */
	__u32 uid;   /* owner */
	__u32 job_id;
	__u32 cpus;	 /* LWK CPUs */
	__u32 processes; /* LWK processes that exist */
	__u32 reserved32;
	__u64 bytes;			   /* memory assigned */
	__s64 since_ns;			   /* realtime at which 'state' was reached */
	char message[LWKPART_MESSAGE_LEN]; /* why PANIC or HUNG */
	__u64 reserved[4];
};

/*
 * LWK_GET_USAGE copies the status area out: struct lwk_status with 'cpus' elements, in which the
 * slots of each CPU are added up. The values of a group are of one moment; a group that the LWK did
 * not leave alone for long enough has an odd 'seq' and zeros. The LWK notices nothing. ENODATA:
 * there is no status area (not loaded, or destroyed); ENOSPC: 'capacity' is too small, and 'length'
 * is what is needed.
 */
struct lwk_usage {
	__u64 buffer;	/* in: user address */
	__u32 capacity; /* in: bytes of buffer */
	__u32 length;	/* out: bytes copied, or needed */
	__u32 cpus;	/* out */
	__u32 tsc_khz;	/* out */
	__u64 tsc;	/* out: TSC value at this moment */
	__u64 reserved[2];
};

enum lwk_event {
	LWK_EVENT_STATE = 0, /* the instance's state has changed */
	LWK_EVENT_PANIC,
	LWK_EVENT_HANG,
	LWK_EVENT_OUT_OF_MEMORY, /* a process was killed: the partition has no memory left */
	LWK_EVENT_CONSOLE,	 /* unread text fills half of the console's ring */
	LWK_EVENT_EXIT,		 /* a process has ended */
	LWK_EVENTS
};

/*
 * From now on each 'event' adds 1 to the eventfd(2) 'fd', until this file is closed. Several
 * kinds of event may share an eventfd. EBADF, EINVAL; EEXIST: the eventfd is told of this event
 * already, by any file of the instance; ENOSPC: this file has LWK_MAX_EVENTFDS, or the instance has
 * LWK_MAX_INSTANCE_EVENTFDS, which bind all but root.
 */
#define LWK_MAX_EVENTFDS 32
#define LWK_MAX_INSTANCE_EVENTFDS 1024
struct lwk_eventfd {
	__s32 fd;
	__u32 event; /* enum lwk_event */
};

#define LWK_GET_STATUS _IOR(LWK_IOC, 0x00, struct lwk_instance_status)
#define LWK_GET_DETAILS _IOR(LWK_IOC, 0x05, struct lwk_instance_details)
#define LWK_GET_USAGE _IOWR(LWK_IOC, 0x06, struct lwk_usage)
/* Works as LWKPART_KMSG does; 'instance' must be 0. */
#define LWK_KMSG _IOWR(LWK_IOC, 0x07, struct lwkpart_kmsg)
#define LWK_EVENTFD _IOW(LWK_IOC, 0x08, struct lwk_eventfd)

#endif
