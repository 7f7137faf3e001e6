/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Console text, read by Linux from a ring in shared memory. */
#ifndef LWK_WATCH_CONSOLE_H
#define LWK_WATCH_CONSOLE_H

#include <stdarg.h>
#include <stddef.h>

void console_init(void);
/* Writes one line: time since boot of the LWK, and text. The format ends without newline. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Understands %s %c %d %u %x, with ll and a zero-padded width. Returns the length. */
int format_text(char *buffer, size_t size, const char *format, va_list args);
/* A panic writes its line even if the lock is held. */
void console_force_unlock(void);

#endif
