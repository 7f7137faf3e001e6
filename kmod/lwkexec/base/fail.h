/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ends of an lwkexec that cannot go on. */
#ifndef LWKEXEC_FAIL_H
#define LWKEXEC_FAIL_H

/* Exit statuses of lwkexec's own, as env(1) and timeout(1) have them. */
#define EXIT_LWK 125	    /* the LWK cannot be used */
#define EXIT_CANNOT_RUN 126 /* the program is there and cannot be run */
#define EXIT_NOT_FOUND 127

/* Prints the message on standard error and ends the proxy with this status. */
void fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/*
 * Keeps a message and a status for fail_refused(), for the calling thread: the caller may also
 * return the error to the program instead, as execve(2) does. Returns -error.
 */
int refuse(int error, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* fail() with the status and the message of the last refuse() of the calling thread. */
void fail_refused(void) __attribute__((noreturn));

#endif
