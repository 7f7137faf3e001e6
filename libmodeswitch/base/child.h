/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things done in a process of their own, because they may never end by themselves.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHILD_CONTEXT_MAX 64

/*
 * Runs 'work' in a child process, on a copy of *context, 'size' bytes. Its result must be 0 or a
 * negative errno and is returned; -ETIMEDOUT when it had to be killed at 'deadline' (clock_ms()),
 * -EINTR when signal_is_pending(). 'work' may only use system calls.
 *
 * One child serves all calls until child_end_calls(), because a young process costs Linux more
 * than its fork: its new pages wait in caches of the CPUs, which must be emptied on each of them
 * before a memory block goes off-line. So what *context points to is as it was at the first call.
 *
 * The child keeps our open files. With the lock of switching that is meant: if
 * we are killed, the lock is free only when the child has ended too.
 */
int child_call(int (*work)(void *context), const void *context, size_t size, int64_t deadline);
/* The same; -EAGAIN when it was killed because must_stop(), asked every 50 ms, said so. */
int child_call_watched(int (*work)(void *context), const void *context, size_t size,
		       int64_t deadline, bool (*must_stop)(void));
/*
 * The same in a child for this call alone, which has of our open files only 'keep' (-1: none): it
 * may wait for ever for a file system, without the lock of switching.
 */
int child_call_alone(int (*work)(void *context), void *context, int keep, int64_t deadline);
/* Ends the child of child_call(), if there is one. It must be before the lock can be given back. */
void child_end_calls(void);

/*
 * Executes argv[0], an absolute path, with a clean environment, nothing as its input
 * and its output kept in 'output'. Returns its exit status, 128 + the signal that ended
 * it, or a negative errno: -ETIMEDOUT as above.
 */
int child_run(const char *const argv[], int64_t deadline, char *output, size_t size);

/*
 * Executes argv[0] the same way, but detached: it has a session of its own, none of our open files,
 * and outlives us. 0 or a negative errno.
 */
int child_detach(const char *const argv[]);

#endif
