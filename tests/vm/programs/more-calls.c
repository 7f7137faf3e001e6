/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks on Linux and on an LWK what Linux promises of calls that few programs make. */
#define _GNU_SOURCE
#include <grp.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;

/* A user may set the IDs to what they are. GNU make's posix_spawn(3) does so for each program. */
static int identity(void)
{
	char *const arguments[] = { "true", NULL };
	uid_t user = getuid(), other = user + 1, ids[3];
	gid_t group = getgid(), groups[64], group_ids[3];
	posix_spawnattr_t attributes;
	pid_t child;
	int status;

	CHECK(setuid(user) == 0 && seteuid(user) == 0 && setreuid(user, -1) == 0);
	CHECK(setresuid(user, user, user) == 0 && setresuid(-1, -1, -1) == 0);
	CHECK(setgid(group) == 0 && setegid(group) == 0 && setregid(-1, group) == 0);
	CHECK(setresgid(group, group, group) == 0 && setresgid(-1, -1, -1) == 0);
	CHECK(setuid(other) < 0 && errno == EPERM && setgid(group + 1) < 0 && errno == EPERM);
	CHECK(setreuid(other, -1) < 0 && errno == EPERM && setregid(-1, 0) < 0 && errno == EPERM);
	CHECK(setresuid(-1, -1, 0) < 0 && errno == EPERM);
	CHECK(setresgid(-1, 0, -1) < 0 && errno == EPERM);
	CHECK(setuid(-1) < 0 && errno == EINVAL && setgid(-1) < 0 && errno == EINVAL);
	CHECK(setfsuid(other) == (int)user && setfsuid(-1) == (int)user);
	CHECK(setfsgid(0) == (int)group && setfsgid(-1) == (int)group);
	CHECK(setgroups(getgroups(64, groups), groups) < 0 && errno == EPERM);
	CHECK(getresuid(&ids[0], &ids[1], &ids[2]) == 0);
	CHECK(ids[0] == user && ids[1] == user && ids[2] == user);
	CHECK(getresgid(&group_ids[0], &group_ids[1], &group_ids[2]) == 0);
	CHECK(group_ids[0] == group && group_ids[1] == group && group_ids[2] == group);

	CHECK(posix_spawnattr_init(&attributes) == 0);
	CHECK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_RESETIDS) == 0);
	CHECK(posix_spawnp(&child, "true", NULL, &attributes, arguments, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	return 0;
}

int main(void)
{
	if (identity())
		return 1;
	puts("all of it is right");
	return 0;
}
