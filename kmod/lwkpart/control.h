/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_CONTROL_H
#define LWKPART_CONTROL_H

/* Makes and removes /dev/lwkpart. */
int control_init(void);
void control_exit(void);

#endif
