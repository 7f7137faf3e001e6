/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_SMP_OPS_H
#define LWKPART_SMP_OPS_H

/* Replaces functions of Linux's smp_ops by ours, and puts Linux's back. */
void smp_ops_hook(void);
void smp_ops_unhook(void);

#endif
