/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
/* The device of an instance, and its areas for mmap(2). */
#ifndef ABI_DEVICE_DEVICE_H
#define ABI_DEVICE_DEVICE_H

#define LWK_DEVICE_DIR "/dev/lwk"
#define LWK_IOC 0xb8

/*
 * File offsets for mmap(2), always with MAP_SHARED:
 *   STATUS   the instance's status area, read-only
 *   CHANNEL  the channel of the caller's slot (struct lwk_channel), after LWK_PROC_CREATE
 *   WINDOW   the LWK process's memory, at the addresses that it has there:
 *            [LWK_USER_START, LWK_USER_END) with MAP_FIXED_NOREPLACE; or a part of it, where
 *            something else was mapped meanwhile, at its own offset from LWK_MMAP_WINDOW on
 */
#define LWK_MMAP_STATUS 0x0UL
#define LWK_MMAP_CHANNEL 0x10000000UL
#define LWK_MMAP_WINDOW 0x100000000UL

#endif
