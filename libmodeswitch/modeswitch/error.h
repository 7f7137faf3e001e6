/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors, as text for the person who can act on them, and the listener of lines of text.
 */
#ifndef MODESWITCH_ERROR_H
#define MODESWITCH_ERROR_H

#include <stddef.h>

/* The reason why a call failed: the expectation, the finding, and the remedy. */
struct ms_error {
	char text[1024];
};

/*
 * Replaces by '?' each byte of control characters, of what turns the direction of text, and of what
 * is no UTF-8. Users choose parts of messages: a newline would begin a line of their own in root's
 * logs, an escape sequence would reach root's terminal.
 */
void ms_make_printable(char *text);

/*
 * Sets the text as printf() would, made printable, and returns -1, for "return ms_fail(err, ...)".
 */
int ms_fail(struct ms_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hears one line of text, without a newline; the line is valid during the call only. */
typedef void (*ms_say)(const char *line, void *context);

#endif
