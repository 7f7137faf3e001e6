/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes, which a number alone does not name for long.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns when the process started, in clock ticks since the boot; 0: there is none, or it has ended and
 * its parent does not know yet.
 */
uint64_t process_started(pid_t pid);
/* True when the process' effective user is this one, also when it has made itself undumpable. */
bool process_runs_as(pid_t pid, uid_t uid);

/* Has the calling thread run on these CPUs only. Where Linux does not allow that, it stays where it is. */
void process_go_to(hwloc_const_bitmap_t cpus);

#endif
