/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of the module's header: kernel.h has the newest kernel's interface. */
#ifndef MODEL_LWKPART_COMPAT_H
#define MODEL_LWKPART_COMPAT_H

#define COMPAT_NOT_CLEARED
#define compat_syscall_work(task) 0UL
#define compat_let_move_at_once(irq) ((void)(irq))
#define compat_irq_set_affinity(irq, mask) 0
#define system_percpu_wq NULL

#endif
