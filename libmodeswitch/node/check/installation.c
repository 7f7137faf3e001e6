// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what is wrong with lwk.conf, the LWK images and the kernel module.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "config/image.h"
#include "driver/driver.h"
#include "machine/signatures.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"

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
	check_tell_lines(checking, MS_PROBLEM, "config", lines, path, "%s is missing or empty",
			 path);
}

void check_config(struct checking *checking, const char *path)
{
	struct ms_error err;
	struct stat st;

	/* A shell has made the file by ">" before lwkctl setup prints what to write. */
	if (stat(path, &st) < 0 ? errno == ENOENT : st.st_size == 0)
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

/* True when the module is in the list of modules that depmod(8) has made. */
static bool list_has_module(const char *path, const char *module)
{
	FILE *list = fopen(path, "re");
	char *line = NULL, name[64];
	size_t size = 0;
	bool has = false;

	/* "extra/lwkpart.ko.xz: other modules" */
	snprintf(name, sizeof(name), "/%s.ko", module);
	while (list && !has && getline(&line, &size, list) > 0) {
		line[strcspn(line, ":")] = '\0';
		has = strstr(line, name) != NULL;
	}
	free(line);
	if (list)
		fclose(list);
	return has;
}

/* Writes the releases of Linux, other than the running one, that the module is installed for. */
static void find_other_kernels(const char *module, const char *running, char *kernels, size_t size)
{
	char pattern[PATH_MAX];
	glob_t lists;
	size_t at = 0;

	*kernels = '\0';
	snprintf(pattern, sizeof(pattern), "%s/lib/modules/*/modules.dep", files_root);
	if (glob(pattern, 0, NULL, &lists) != 0)
		return;
	for (size_t i = 0; i < lists.gl_pathc && at < size; i++) {
		const char *release =
			lists.gl_pathv[i] + strlen(files_root) + strlen("/lib/modules/");
		int length = strcspn(release, "/");

		if (((int)strlen(running) != length || strncmp(release, running, length) != 0) &&
		    list_has_module(lists.gl_pathv[i], module))
			at += snprintf(kernels + at, size - at, "%s%.*s", at ? ", " : "", length,
				       release);
	}
	globfree(&lists);
}

/* The module is not loaded, and modprobe gives this reason why it cannot be. */
static void tell_why_not(struct checking *checking, const char *module, const char *reason)
{
	struct utsname running;
	char kernels[512], to_do[512];

	if (uname(&running) < 0)
		*running.release = '\0';
	find_other_kernels(module, running.release, kernels, sizeof(kernels));
	if (!*kernels) {
		check_tell(checking, MS_PROBLEM, "module",
			   "install it for the kernel that runs ('uname -r') and run depmod",
			   "%s cannot be loaded: %s", module, reason);
		return;
	}
	snprintf(to_do, sizeof(to_do),
		 "build it for Linux %s: 'dkms autoinstall -k %s', or configure "
		 "--with-kernel=/lib/modules/%s/build; or boot a kernel that has it",
		 running.release, running.release, running.release);
	check_tell(checking, MS_PROBLEM, "module", to_do,
		   "%s is installed for Linux %s, but Linux %s runs: LWK jobs are refused (%s)",
		   module, kernels, running.release, reason);
}

/* The module that is loaded may be of another release than this library. */
static void check_release(struct checking *checking, const char *module)
{
	char release[64];

	if (kernel_read(release, sizeof(release), "/sys/module/%s/version", module) < 0 ||
	    strcmp(release, PACKAGE_VERSION) == 0)
		check_tell(checking, MS_FINE, "module", NULL, "%s is loaded", module);
	else
		check_tell(
			checking, MS_NOTE, "module",
			"when no LWK runs ('lwkctl list'), unload it with rmmod; the next LWK job "
			"loads the one that is installed",
			"%s of slurm-lwk %s is loaded, and the rest is of %s: what is new does not "
			"work, or not as the manuals say",
			module, release, PACKAGE_VERSION);
}

static void check_module(struct checking *checking, const struct driver *driver)
{
	const char *const argv[] = { "/sbin/modprobe", "--dry-run", driver->module, NULL };
	char output[512], path[64];
	struct ms_error err;
	int dev, status;

	snprintf(path, sizeof(path), "/sys/module/%s", driver->module);
	dev = driver->open(&err);
	if (dev >= 0) {
		driver->close(dev);
		if (driver->use_library)
			check_tell(checking, MS_FINE, "module", NULL, "%s answers", driver->name);
		else
			check_release(checking, driver->module);
		return;
	}
	if (dev == -EACCES && access(path, F_OK) == 0) {
		check_tell(checking, MS_NOTE, "module",
			   "run 'lwkctl check' as root to see whether it is the "
			   "right one",
			   "%s is loaded", driver->module);
		return;
	}
	if (dev == -EPROTO) {
		check_tell(checking, MS_PROBLEM, "module",
			   "do that; 'lwkctl list' names these jobs, and 'modinfo -F version' the "
			   "module that is installed",
			   "%s", err.text);
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
		tell_why_not(checking, driver->module, status < 0 ? strerror(-status) : output);
}

static void hear_driver(enum driver_level level, const char *subject, const char *to_do,
			const char *text, void *context)
{
	static const int levels[] = {
		[DRIVER_FINE] = MS_FINE, [DRIVER_NOTE] = MS_NOTE, [DRIVER_PROBLEM] = MS_PROBLEM
	};

	check_tell(context, levels[level], subject, to_do, "%s", text);
}

/* Finds the library of the driver's images. Returns whether lwk.conf has any of them. */
static bool check_library(struct checking *checking, const struct driver *driver, bool *found)
{
	const struct ms_config *config = checking->config;
	struct ms_error err;
	bool any = false;

	*found = true;
	for (size_t i = 0; config && i < config->n_images; i++) {
		const struct ms_image *image = &config->images[i];

		if (strcmp(image->driver, driver->name) != 0)
			continue;
		any = true;
		if (!driver->use_library || driver->use_library(image->library, &err) == 0)
			continue;
		*found = false;
		check_tell(checking, MS_PROBLEM, "library",
			   "do that, or remove the image from lwk.conf", "%s", err.text);
	}
	return any;
}

/* Without lwk.conf it is not known which drivers are wanted; most need no library. */
void check_driver(struct checking *checking, const struct driver *driver)
{
	bool found, any = check_library(checking, driver, &found);

	if (!any && (checking->config || driver->use_library))
		return;
	if (found)
		check_module(checking, driver);
	if (driver->check)
		driver->check(hear_driver, checking);
}
