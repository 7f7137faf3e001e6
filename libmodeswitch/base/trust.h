/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks, before root trusts a file, that nobody but root could have written it or put it there; opens files
 * that others have put there.
 */
#ifndef TRUST_H
#define TRUST_H

#include "modeswitch/error.h"

/* Checks that an open file is a regular file that belongs to root and that only root can write. */
int file_check_trusted(int fd, const char *path, struct ms_error *err);

/*
 * Checks that only root can change what the absolute path names: all directories and symbolic
 * links on the way to it, and those that links lead through, belong to root and only root can write
 * them. In a directory with the sticky bit nobody but root can replace what root owns, so such a
 * directory may be on the way. It may not hold the file itself, because users could make a file
 * there whose name an administrator has mistyped.
 */
int path_check_trusted(const char *path, struct ms_error *err);

/*
 * Opens what a path from the directory 'at' on names, with the flags of open(2); of no other user's file system
 * is anything asked. A file descriptor, or -1 with errno: ELOOP for a symbolic link, EXDEV for what is
 * outside of the directory, or mounted on it or below it; ENOSYS before Linux 5.6.
 */
int open_within(int at, const char *path, int flags);

#endif
