/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The release. Slurm 20.11 has this in slurm.h. */
#ifndef TESTS_SLURM_VERSION_H
#define TESTS_SLURM_VERSION_H

#define SLURM_VERSION_NUM(year, month, micro) (((year) << 16) + ((month) << 8) + (micro))
#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(RELEASE_YEAR, RELEASE_MONTH, 1)

#define SINCE(year, month) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(year, month, 0))

#endif
