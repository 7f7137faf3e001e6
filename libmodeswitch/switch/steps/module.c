// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads the driver's kernel module if need be. After an upgrade the one that is loaded makes room for
 * the one that is installed; nothing else unloads it, because what it has lent must outlive the switch.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/child.h"
#include "base/files.h"
#include "machine/signatures.h"
#include "modeswitch/error.h"
#include "switch/steps/table.h"

#define MODPROBE "/sbin/modprobe"

void module_renew(const char *module)
{
	char release[64];

	/* The kernel refuses as long as anything is lent. */
	if (kernel_read(release, sizeof(release), "/sys/module/%s/version", module) > 0 &&
	    strcmp(release, PACKAGE_VERSION) != 0)
		syscall(SYS_delete_module, module, O_NONBLOCK);
}

static int load_module(struct switching *switching, struct ms_error *err)
{
	const char *module = switching->driver->module;
	const char *const argv[] = { MODPROBE, module, NULL };
	char output[512], remedy[256];
	int status = child_run(argv, switching->deadline, output, sizeof(output));

	if (status == 0)
		return 0;
	snprintf(remedy, sizeof(remedy),
		 "see 'modinfo %s' and the end of 'dmesg', and run 'lwkctl check'", module);
	return ms_fail(err,
		       "the kernel module %s cannot be loaded: %s; the administrator's remedy: %s",
		       module,
		       status < 0 ? strerror(-status)
		       : *output  ? output
				  : "modprobe failed",
		       signatures_wanted() ? SIGNATURES_REMEDY : remedy);
}

static int run(struct switching *switching, struct ms_error *err)
{
	if (switching->dev >= 0)
		return 0;
	switching->dev = switching->driver->open(err);
	if (switching->dev != -ENOENT)
		return switching->dev < 0 ? -1 : 0;
	if (load_module(switching, err) < 0)
		return -1;
	switching->dev = switching->driver->open(err);
	if (switching->dev == -ENOENT)
		return ms_fail(err,
			       "the kernel module %s is loaded, but its device is not there (%s)",
			       switching->driver->module, strerror(ENOENT));
	return switching->dev < 0 ? -1 : 0;
}

const struct step step_module = { .name = "module", .run = run };
