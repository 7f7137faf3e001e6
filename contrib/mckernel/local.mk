# SPDX-License-Identifier: GPL-2.0-or-later
# The launcher that jobs with McKernel need beside McKernel itself, and its check.
mckerneldir = $(prefix)/lib/slurm-lwk
dist_mckernel_SCRIPTS = contrib/mckernel/mcexec-task
