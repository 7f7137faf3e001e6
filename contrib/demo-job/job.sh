#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The demo's job: what a user writes. The script runs on Linux in both modes; srun's
# tasks run on the LWK when the job was submitted with --lwk.
#SBATCH --cpus-per-task=1 --ntasks=4 --mem=1024
srun --ntasks=3 ./triad 290
