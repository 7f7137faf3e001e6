/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs functions and programs that may hang in child processes, which can be killed.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHILD_CONTEXT_MAX 64

/*
 * Runs work() in a child process on a copy of *context, 'size' bytes, at most CHILD_CONTEXT_MAX.
 * Returns its result, which must be 0 or a negative errno; -ETIMEDOUT when the child had to be
 * killed at 'deadline' (clock_ms()); -EINTR when it was killed because signal_is_pending(); -ECHILD
 * when it ended by itself. work() may only use system calls.
 *
 * One child serves all calls until child_end_calls(), because a new process makes it slower to put
 * memory off-line: its pages wait in caches of the CPUs, which Linux then has to empty on each CPU.
 * Therefore memory that *context points to is as it was at the first call.
 *
 * The child shares our open files, also the lock of switching: if we are killed, the lock becomes
 * free only when the child has ended too.
 */
int child_call(int (*work)(void *context), const void *context, size_t size, int64_t deadline);
/*
 * Does child_call(), and kills the child when must_stop(), called every 50 ms, returns true: then
 * the result is -EAGAIN.
 */
int child_call_watched(int (*work)(void *context), const void *context, size_t size,
		       int64_t deadline, bool (*must_stop)(void));
/*
 * Does child_call() in a child for this call only, in which all our files are closed except 'keep'
 * (-1: all are closed), so that a child that hangs in a file system does not hold the lock of
 * switching.
 */
int child_call_alone(int (*work)(void *context), void *context, int keep, int64_t deadline);
/*
 * Does child_call_alone(), while work() moves the deadline, in memory that it shares with us, as long as
 * it gets on.
 */
int child_call_alive(int (*work)(void *context), void *context, int keep,
		     const volatile int64_t *deadline);
/*
 * For work() of these two: lets this process have so many bytes of address space more than it has, or ends
 * it.
 */
void child_limit_memory(uint64_t bytes);
/*
 * Ends the child of child_call(), if there is one; the lock of switching is not free before that.
 */
void child_end_calls(void);

/*
 * Executes argv[0], an absolute path, with a clean environment and no input, and waits for its end.
 * 'output' gets the first 'size' - 1 bytes of what it prints, without newlines at the end. Returns
 * its exit status, 128 + the signal that ended it, or a negative errno as child_call() does.
 */
int child_run(const char *const argv[], int64_t deadline, char *output, size_t size);
/*
 * Does child_run(), and leaves a killed program behind that does not end within half a second, such as
 * one that waits for a user's file system.
 */
int child_run_alone(const char *const argv[], int64_t deadline, char *output, size_t size);

/*
 * Executes argv[0] in the same environment, without output, and does not wait: the program has its
 * own session and none of our open files, and outlives us. 0 or a negative errno.
 */
int child_detach(const char *const argv[]);

#endif
