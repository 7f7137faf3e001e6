// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what is wrong with lwk.conf, the LWK images and the kernel module.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "config/image.h"
#include "driver/driver.h"
#include "machine/signatures.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "node/check/check.h"
#include "node/check/slurm/scontrol.h"

#define MODPROBE_MS 20000

/* A site's first lwk.conf: the bundled LWK, and the CPUs that Slurm keeps for the system. */
static void tell_first_config(struct checking *checking, const char *path)
{
	char cpus[512] = "", lines[1024];

	if (checking->node)
		check_setting(checking->node, "CPUSpecList", cpus, sizeof(cpus));
	snprintf(lines, sizeof(lines),
		 "[node]\nOsCpus = %s\n\n[image lwk]\nDriver = lwkpart\nPath = " LWK_IMAGE_PATH
		 "\nDefault = yes",
		 *cpus >= '0' && *cpus <= '9' ? cpus : "0");
	check_tell_lines(checking, MS_PROBLEM, "config", lines, path, "%s does not exist", path);
}

void check_config(struct checking *checking, const char *path)
{
	struct ms_error err;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		tell_first_config(checking, path);
	else if (ms_config_load(path, &checking->config, &err) < 0)
		check_tell(checking, MS_PROBLEM, "config",
			   "correct it; lwk.conf(5) tells what it may say", "%s", err.text);
	else
		check_tell(checking, MS_FINE, "config", NULL, "%s is valid, with %zu image%s", path,
			   checking->config->n_images, checking->config->n_images == 1 ? "" : "s");
}

void check_images(struct checking *checking)
{
	struct ms_error err;
	size_t size;
	void *data;

	for (size_t i = 0; checking->config && i < checking->config->n_images; i++) {
		const struct ms_image *image = &checking->config->images[i];

		if (image_read(image, &data, &size, &err) < 0) {
			check_tell(checking, MS_PROBLEM, "image",
				   "install it, or correct Path= in lwk.conf", "%s", err.text);
			continue;
		}
		free(data);
		check_tell(checking, MS_FINE, "image", NULL, "%s: %s, %zu KB", image->name,
			   image->path, size >> 10);
	}
}

/* Looks at the signature of a module that is found, but not loaded yet. */
static void check_signature(struct checking *checking, const char *module)
{
	const char *const argv[] = { "/sbin/modinfo", "-F", "signer", module, NULL };
	char signer[512] = "";

	if (signatures_wanted() &&
	    (child_run(argv, clock_ms() + MODPROBE_MS, signer, sizeof(signer)) != 0 || !*signer))
		check_tell(checking, MS_PROBLEM, "module", SIGNATURES_REMEDY,
			   "%s cannot be loaded: it has no signature", module);
	else
		check_tell(checking, MS_FINE, "module", NULL,
			   "%s is found; the first LWK job loads it", module);
}

void check_module(struct checking *checking, const struct driver *driver)
{
	const char *const argv[] = { "/sbin/modprobe", "--dry-run", driver->module, NULL };
	char output[512], path[64];
	struct ms_error err;
	int dev, status;

	snprintf(path, sizeof(path), "/sys/module/%s", driver->module);
	dev = driver->open(&err);
	if (dev >= 0) {
		driver->close(dev);
		check_tell(checking, MS_FINE, "module", NULL, "%s is loaded", driver->module);
		return;
	}
	if (dev == -EACCES && access(path, F_OK) == 0) {
		check_tell(checking, MS_NOTE, "module",
			   "run 'lwkctl check' as root to see whether it is the "
			   "right one",
			   "%s is loaded", driver->module);
		return;
	}
	if (dev != -ENOENT) {
		check_tell(checking, MS_PROBLEM, "module", "see the end of 'dmesg'", "%s",
			   err.text);
		return;
	}
	status = child_run(argv, clock_ms() + MODPROBE_MS, output, sizeof(output));
	if (status == 0)
		check_signature(checking, driver->module);
	else
		check_tell(checking, MS_PROBLEM, "module",
			   "install it for the kernel that runs ('uname -r') and run depmod",
			   "%s cannot be loaded: %s", driver->module,
			   status < 0 ? strerror(-status) : output);
}
