/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the driver for IHK. Device 0 is the only one.
 */
#ifndef DRIVER_IHK_H
#define DRIVER_IHK_H

#include "driver/driver.h"
#include "driver/ihk/library.h"
#include "driver/ihk/owned.h"

#define IHK_DEVICE_PREFIX "/dev/mcos"
/* Bytes; IHK takes memory in multiples of it. */
#define IHK_GRAIN (4UL << 20)
#define IHK_MAX_OS 64
#define IHK_MAX_CHUNKS 65536

/* The library that ihk_open() has loaded; NULL before. */
extern const struct ihk_library *ihk;

/* Milliseconds that IHK gets to end an instance; only tests change it. */
extern unsigned ihk_end_ms;

extern const struct watching watching_ihk;
extern const struct dumping dumping_ihk;

/* Milliseconds between two looks whether an LWK has failed; only tests change it. */
extern unsigned ihk_guard_ms;

/* Tells IHK's own library, with IHK's modules below it, from contrib/ihk-compat's. */
bool ihk_is_itself(void);

/* Returns the library's answer, or -EPROTO when it is more than 'most', and so no valid one. */
int ihk_count(int answer, int most);

/*
 * Finds the instance in 'owned', and checks that IHK still has it with the CPUs that it was given:
 * another program may have removed it and made another of its number. 0; -ENOENT.
 */
int ihk_find_instance(const struct owned *owned, int os, struct owned_instance **instance);

/* An instance that does not begin to end before ihk_let_go(). */
struct ihk_held {
	struct owned owned;
	struct owned_instance *instance; /* in 'owned' */
	int lock;
};

/* Does what ihk_find_instance() does, and holds what it finds. 0 or a negative errno. */
int ihk_hold(int os, struct ihk_held *held);
void ihk_let_go(struct ihk_held *held);
/*
 * Returns the state of an instance that is held, or that only this process can end. IHK is not
 * asked about one that was never booted.
 */
enum ms_instance_state ihk_state(const struct owned_instance *instance);

/* Does owned_load(). When nothing is lent, owned->library is that of this process's switch. */
int ihk_load_owned(struct owned *owned);

/* instance.c: the operations of struct driver with these names */
int ihk_create(int dev, uint32_t job_id, uid_t uid, bool kernel_calls, bool limited);
int ihk_destroy(int dev, unsigned instance);
int ihk_assign_cpu(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu);
int ihk_boot(int dev, unsigned instance, const char *args, unsigned timeout_ms);
int ihk_shut_down(int dev, unsigned instance);
int ihk_info(int dev, unsigned instance, struct instance_info *out);
/*
 * Forgets the instances that other programs have removed: what these had is the job's alone. Only a
 * caller that holds the lock of switching may save 'owned' afterwards.
 */
void ihk_forget_removed(struct owned *owned);
/*
 * Copies all text of an instance that is held; the caller frees *text with free(). The bytes; -EHOSTDOWN: the
 * instance is ending; or another negative errno.
 */
int ihk_copy_kmsg(const struct ihk_held *held, char **text);
/*
 * Copies text of an instance that is held; IHK gives all that it still has, and *position counts within
 * that. The bytes; -EHOSTDOWN: the instance is ending; or another negative errno.
 */
ssize_t ihk_read_kmsg(const struct ihk_held *held, uint64_t *position, char *text, size_t size);
ssize_t ihk_kmsg(int dev, unsigned instance, uint64_t *position, char *text, size_t size);

/* load.c: the operation of struct driver with this name */
int ihk_load(int dev, unsigned instance, const void *image, size_t size);

/* memory.c: the operations of struct driver with these names */
int ihk_lend_run(int dev, uint64_t bytes, unsigned node, uint64_t *start);
int ihk_return_memory(int dev, uint64_t start, uint64_t bytes);
int ihk_assign_memory(int dev, unsigned instance, uint64_t start, uint64_t bytes);
/* Finishes what a process that has died was reserving. */
int ihk_settle(struct owned *owned);

/*
 * proxies.c: kills the user's processes that have the instance's device open, and waits seconds for their
 * end. A process that does not end is in syslog(3) then.
 */
void ihk_end_proxies(int os, uid_t uid);
/* IHK_DEVICE_PREFIX; only tests change it. */
extern const char *ihk_device_prefix;

/* check.c */
/* 0; -1 with *err: loading a kernel would overwrite memory of Linux. */
int ihk_check_isolation(struct ms_error *err);
void ihk_check(driver_tell tell, void *context);

#endif
