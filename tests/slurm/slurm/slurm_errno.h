/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors. */
#ifndef TESTS_SLURM_ERRNO_H
#define TESTS_SLURM_ERRNO_H

#include <errno.h>
#include <slurm/slurm_version.h>

#define SLURM_SUCCESS 0
#define SLURM_ERROR (-1)

enum {
	ESLURM_INVALID_NODE_NAME = 2009,
	ESLURM_INVALID_JOB_ID = 2017,
};

char *slurm_strerror(int number);
#if !SINCE(24, 11)
int slurm_get_errno(void);
#endif

#endif
