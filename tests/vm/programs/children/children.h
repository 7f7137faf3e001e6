/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a child, and says how it ended. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <sys/types.h>
#include <sys/wait.h>

static inline int status_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static inline int ends_with(pid_t pid, int code)
{
	int status = status_of(pid);

	return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static inline int ends_by(pid_t pid, int signal)
{
	int status = status_of(pid);

	return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

#endif
