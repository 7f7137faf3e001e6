/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and kills the process that holds the lock of switching, which state_lock() takes. */
#ifndef LOCK_HOLDER_H
#define LOCK_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns a process that has the lock: the one that took it if it still runs; 0: nobody has it. */
pid_t lock_holder(void);
/* Writes the name of the program that the process runs; "ended" when there is none any more. */
void lock_holder_name(pid_t holder, char *name, size_t size);
/* True when the process is a step of a job, which keeps a dump; its programs would die with it. */
bool lock_holder_is_step(pid_t holder);
/*
 * Kills that process, unless it is a step, and no other that gets its number meanwhile. Returns it;
 * 0: none is killed.
 */
pid_t lock_holder_kill(void);

#endif
