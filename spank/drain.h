/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps jobs away from a node that could not switch back.
 */
#ifndef SPANK_DRAIN_H
#define SPANK_DRAIN_H

/* Drains this node with the reason, which 'sinfo -R' shows. 0, or -1 with Slurm's errno. */
int drain_node(const char *reason);

#endif
