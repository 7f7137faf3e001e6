/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages that a process shares with others, pinned for the LWK. */
#ifndef LWKPART_GRANT_H
#define LWKPART_GRANT_H

#include "process/thread/thread.h"

/* 0 or -ENOMEM. */
int grants_create(struct lwk_process *process);
/* LWK_GRANT, with its errors. */
long grants_serve(struct lwk_process *process);
/* From now on the LWK gets no page any more. */
void grants_close(struct lwk_process *process);
/*
 * After grants_close(), with process_mutex held, or when nobody else can reach a process that never
 * began: unpins all pages, at once if the slots have let
 * go of the process, else when the instance's CPUs have been stopped.
 */
void grants_destroy(struct lwk_process *process);
/*
 * Starts again for another program, after the slots have let go of the one before: 0 or -ENOMEM.
 * With process_mutex held.
 */
int grants_renew(struct lwk_process *process);
/* Unpins what is left, after the instance's CPUs have been stopped. With process_mutex held. */
void grants_release_stranded(struct instance *instance);

#endif
