/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of libihk.so. lwkpart.ko's ledger is what the library remembers: each OS instance of
 * IHK is an instance of lwkpart.ko, recognized by its job id, and one more, which is never booted,
 * holds what is reserved and not assigned. So what Slurm's jobs have of lwkpart.ko stays apart.
 * lwkpart.ko takes nothing away from an instance, so every change makes these instances again.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "modeswitch/node.h"
#include "modeswitch/watch.h"

#define MAX_OS 63
#define GRAIN (4UL << 20) /* bytes; all sizes of memory are multiples of it */

/* Owners that compat_enter() finds for each lent CPU or range, beside the numbers of the OSes. */
enum { OWNER_POOL = -1, OWNER_OTHER = -2 };

struct compat {
	int dev, lock;
	struct ms_lent *lent;
	int *owner; /* changed by callers before compat_rearrange() */
	size_t n;
};

/*
 * For calls of root on a device: checks the device and the caller, takes the library's lock, and
 * reads the ledger. compat_leave() ends it, also after an error. 0 or a negative errno.
 */
int compat_enter(struct compat *compat, int device);
/*
 * Does compat_enter() for a call on an OS instance, which must exist and, with 'idle', not be
 * booted.
 */
int compat_enter_os(struct compat *compat, int os, bool idle);
void compat_leave(struct compat *compat);
/* Checks that the instance is there and that the caller may read it. */
int compat_may_read(int os);
/*
 * A caller that lends calls the first before, and the second once the pool has what was lent;
 * compat_rearrange() calls both. When a process is killed between them, the next compat_enter()
 * gives the pool what is in no instance and was not lent before.
 */
int compat_begin_lending(const struct compat *compat);
int compat_end_lending(void);

/* lwkpart.ko's number of the OS instance, or -ENOENT. */
int compat_instance(const struct compat *compat, int os);
/* Makes the pool and, unless 'os' is negative, the OS instance again, with what 'owner' says. */
int compat_rearrange(struct compat *compat, int os);
int compat_create(struct compat *compat, int os, uid_t uid);
int compat_destroy(struct compat *compat, int os);

/*
 * The settings of an instance that IHK's kernel modules would keep: "kargs", "map", "cleared". The
 * caller frees them with json_object_put(); NULL: no memory.
 */
struct json_object *compat_settings(int os);
int compat_keep_settings(int os, struct json_object *settings);

/* Opens the instance's device for watching; its number is behind /dev/mcosN. */
int compat_watch(int os);

#endif
