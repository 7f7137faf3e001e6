/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The states of an LWK instance, and the text that explains PANIC and HUNG. */
#ifndef ABI_SHARED_STATE_H
#define ABI_SHARED_STATE_H

#define LWKPART_MESSAGE_LEN 128

/* The life of an LWK instance. */
enum lwk_state {
	LWK_STATE_CREATED = 0, /* exists, owns nothing yet */
	LWK_STATE_ASSIGNED,    /* has CPUs or memory */
	LWK_STATE_LOADED,      /* kernel image is in its memory */
	LWK_STATE_BOOTING,     /* its CPUs were started */
	LWK_STATE_RUNNING,     /* accepts processes */
	LWK_STATE_FREEZING,    /* asked to halt */
	LWK_STATE_FROZEN,      /* halted, state kept */
	LWK_STATE_SHUTDOWN,    /* stopped; its CPUs execute nothing */
	LWK_STATE_PANIC,       /* stopped itself; the message says why */
	LWK_STATE_HUNG,	       /* does not answer */
	LWK_STATE_COUNT
};

#endif
