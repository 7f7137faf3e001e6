/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWK_WATCH_PANIC_H
#define LWK_WATCH_PANIC_H

/* The LWK's own fault: says why, and stops the instance. The machine and Linux go on. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
