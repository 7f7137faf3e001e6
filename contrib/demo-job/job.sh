#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The demo's job, as a user writes one. The script runs on Linux in both modes; the tasks of srun run on
# the LWK when the job was submitted with --lwk.
#SBATCH --cpus-per-task=1 --ntasks=4 --mem=1024
srun --ntasks=3 ./triad 290
