/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors: the text that tells a person why a call failed; and the listener of lines of text.
 */
#ifndef MODESWITCH_ERROR_H
#define MODESWITCH_ERROR_H

#include <stddef.h>

/* Why a call failed, for the person who can act on it. */
struct ms_error {
	char text[1024];
};

/* Sets the text, as printf; returns -1 so that "return ms_fail(err, …)" reads well. */
int ms_fail(struct ms_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hears one line of text, without a newline. */
typedef void (*ms_say)(const char *line, void *context);

#endif
