// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests every ioctl of /dev/lwkpart: who may call it, and with what kind of argument.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi.h"

static const struct command {
	const char *name;
	unsigned long number;
} commands[] = {
	{ "GET_INFO", LWKPART_GET_INFO },
	{ "LEND_CPU", LWKPART_LEND_CPU },
	{ "RETURN_CPU", LWKPART_RETURN_CPU },
	{ "LEND_MEM", LWKPART_LEND_MEM },
	{ "RETURN_MEM", LWKPART_RETURN_MEM },
	{ "CREATE", LWKPART_CREATE },
	{ "DESTROY", LWKPART_DESTROY },
	{ "ASSIGN_CPU", LWKPART_ASSIGN_CPU },
	{ "ASSIGN_MEM", LWKPART_ASSIGN_MEM },
	{ "LOAD", LWKPART_LOAD },
	{ "BOOT", LWKPART_BOOT },
	{ "SHUTDOWN", LWKPART_SHUTDOWN },
	{ "GET_INSTANCE", LWKPART_GET_INSTANCE },
	{ "GET_LEDGER", LWKPART_GET_LEDGER },
	{ "KMSG", LWKPART_KMSG },
	{ "HANG_LIMIT", LWKPART_HANG_LIMIT },
	{ "DUMP_LAYOUT", LWKPART_DUMP_LAYOUT },
	{ "DUMP", LWKPART_DUMP },
	{ "MOVE", LWKPART_MOVE },
};

/* Tries open() and each ioctl on root's open file as user nobody. Returns the number of faults. */
static int be_nobody(void)
{
	char argument[1024] = { 0 };
	int faults = 0;
	size_t i;

	if (setgid(65534) || setuid(65534))
		return 1;
	faults += open(LWKPART_DEVICE, O_RDWR) >= 0 || errno != EACCES;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		faults += call(commands[i].number, argument) != EPERM;
	return faults;
}

void test_permission(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(be_nobody());
	waitpid(child, &status, 0);
	check(status == 0, "nobody can neither open the device nor use a file that root opened");
}

void test_commands(void)
{
	char name[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(name, sizeof(name), "%s without an argument", commands[i].name);
		check_result(call(commands[i].number, NULL), EFAULT, name);
	}
	check_result(call(_IO(LWKPART_IOC, 0x7f), NULL), ENOTTY, "an unknown command");
	check_result(call(_IOW(LWKPART_IOC, 0x01, __u64[2]), NULL), ENOTTY,
		     "LEND_CPU with a structure of another size");
}
